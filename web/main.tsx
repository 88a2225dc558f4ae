// Start.
import { createRoot } from 'react-dom/client'
import { App } from './app'
import { State } from './state'

const state = new State()
createRoot(document.getElementById('root') as HTMLElement).render(<App state={state} />)
state.connect()
addEventListener('hashchange', () => {
	if (location.hash.includes('token=')) location.reload() // a new address was pasted
})
