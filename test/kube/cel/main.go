// Says what the expressions in a file mean to the API server: for each line, a JSON string, one line with a word for
// every device of the second file (a JSON array of devices of a ResourceSlice, all of one driver): T, F or E (it fails),
// or the one word "invalid" when it does not compile.
//
//	cel EXPRESSIONS DEVICES DRIVER
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cel:", err)
		os.Exit(1)
	}
}

func letter(matches bool, err error) byte {
	if err != nil {
		return 'E'
	}
	if matches {
		return 'T'
	}
	return 'F'
}

func main() {
	text, err := os.ReadFile(os.Args[2])
	check(err)
	var devices []resourceapi.Device
	check(json.Unmarshal(text, &devices))
	file, err := os.Open(os.Args[1])
	check(err)
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		var expression string
		check(json.Unmarshal(lines.Bytes(), &expression))
		program := compiler.CompileCELExpression(expression, cel.Options{DisableCostEstimation: true})
		if program.Error != nil {
			fmt.Fprintln(out, "invalid")
			continue
		}
		for _, device := range devices {
			matches, _, err := program.DeviceMatches(context.Background(), cel.Device{
				Driver: os.Args[3], AllowMultipleAllocations: device.AllowMultipleAllocations,
				Attributes: device.Attributes, Capacity: device.Capacity,
			})
			check(out.WriteByte(letter(matches, err)))
		}
		check(out.WriteByte('\n'))
	}
	check(lines.Err())
}
