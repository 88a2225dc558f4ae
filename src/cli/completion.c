/* Owns the completion scripts of bash, zsh and fish. They only ask `platoon __complete`, so all shells know the same,
 * and what they know is never older than the program. */
#include "base/strings.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* Words with "=" come to bash in pieces, and so must the answers. */
static const char bash_script[] =
	"# bash completion for platoon\n"
	"_platoon() {\n"
	"\tlocal line word directive=4 words=() current IFS=$'\\n'\n"
	"\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
	"\t\tif [ \"${#words[@]}\" -gt 0 ] && { [ \"$word\" = = ] || [[ ${words[-1]} = --*= ]]; }; then\n"
	"\t\t\twords[-1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tcurrent=${words[-1]}\n"
	"\tCOMPREPLY=()\n"
	"\tfor line in $(\"${COMP_WORDS[0]}\" __complete \"${words[@]}\" 2>/dev/null); do\n"
	"\t\tcase $line in\n"
	"\t\t:*) directive=${line#:} ;;\n"
	"\t\t*) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tif [[ $current = --*=* ]]; then\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]#*=}\")\n"
	"\t\tcurrent=${current#*=}\n"
	"\tfi\n"
	"\tif [ $((directive & 4)) -eq 0 ]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tCOMPREPLY+=($(compgen -f -- \"$current\"))\n"
	"\tfi\n"
	"\tif [ $((directive & 2)) -ne 0 ]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\tfi\n"
	"}\n"
	"complete -F _platoon platoon\n";

static const char zsh_script[] =
	"#compdef platoon\n"
	"_platoon() {\n"
	"\tlocal -a lines options\n"
	"\tlocal line value directive=4\n"
	"\tlines=(\"${(@f)$(${words[1]} __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	"\tlocal -a values\n"
	"\tfor line in $lines; do\n"
	"\t\tif [[ $line = :* ]]; then\n"
	"\t\t\tdirective=${line#:}\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tvalue=${line%%$'\\t'*}\n"
	"\t\tvalues+=(\"${value//:/\\\\:}:${line#*$'\\t'}\")\n"
	"\tdone\n"
	"\tif (( directive & 2 )); then\n"
	"\t\toptions=(-S '')\n"
	"\tfi\n"
	"\tif (( $#values )); then\n"
	"\t\t_describe platoon values $options\n"
	"\tfi\n"
	"\tif (( ! (directive & 4) )); then\n"
	"\t\t_files\n"
	"\tfi\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _platoon ]; then\n"
	"\t_platoon \"$@\"\n"
	"else\n"
	"\tcompdef _platoon platoon\n"
	"fi\n";

static const char fish_script[] = "# fish completion for platoon\n"
				  "function __platoon_ask\n"
				  "\tset -l words (commandline -opc)\n"
				  "\t$words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null\n"
				  "end\n"
				  "function __platoon_wants_files\n"
				  "\t__platoon_ask | string match -qr '^:[01]$'\n"
				  "end\n"
				  "complete -c platoon -f\n"
				  "complete -c platoon -a '(__platoon_ask | string match -v \":*\")'\n"
				  "complete -c platoon -n __platoon_wants_files -F\n";

int cmd_completion(struct cli_args *args)
{
	static const char *const shells[] = {"bash", "zsh", "fish"};
	static const char *const scripts[] = {bash_script, zsh_script, fish_script};
	for (size_t i = 0; i < 3 && args->operand_count == 1; i++) {
		if (strcmp(args->operands[0], shells[i]) == 0) {
			fputs(scripts[i], stdout);
			return CLI_OK;
		}
	}
	const char *near = args->operand_count == 1 ? text_nearest(args->operands[0], shells, 3) : NULL;
	fprintf(stderr, "platoon completion: give one shell: bash, zsh or fish%s%s%s\n", near ? "; did you mean " : "",
	        near ? near : "", near ? "?" : "");
	return CLI_USAGE;
}
