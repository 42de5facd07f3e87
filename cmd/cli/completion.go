package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/cmd/cli/output"
	"github.com/spf13/pflag"
)

// exitCodes are what the exit codes mean, for the manual page. The guide has the same table.
var exitCodes = [][2]string{
	{fmt.Sprint(exitDone), "done"},
	{fmt.Sprint(exitFailed), "failed"},
	{fmt.Sprint(exitUsage), "the command line, or a line of the input, was wrong"},
	{fmt.Sprint(exitLimit), "a limit was reached, such as `--max-turns` or `--max-budget-usd`"},
	{fmt.Sprint(exitForm), "the answer is not in the form of `--json-schema`"},
	{fmt.Sprint(exitSetup), "a key, a model or an address has to be mended first"},
	{fmt.Sprint(exitAway), "the provider does not answer for now; trying later may help"},
	{fmt.Sprint(exitInterrupted), "interrupted"},
}

// complete prints the script that completes this command line in a shell.
func complete(c *command, args []string) int {
	flags := c.flags("atelier completion " + strings.Join(output.Shells, "|"))
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	if !slices.Contains(output.Shells, flags.Arg(0)) || flags.NArg() > 1 {
		return c.misused(flags, "name one shell: "+strings.Join(output.Shells, ", "))
	}
	fmt.Fprint(c.out, table(c).Completion(flags.Arg(0)))
	return exitDone
}

// man prints the manual page.
func man(c *command, args []string) int {
	flags := c.flags("atelier man")
	if code, ok := c.parse(flags, args); !ok {
		return code
	}
	fmt.Fprint(c.out, table(c).Man(Version))
	return exitDone
}

var (
	namesInUsage = regexp.MustCompile(`(?m)^  atelier (\w+)`)
	namesInHelp  = regexp.MustCompile(`(?m)^  (\w+) `)
)

// table returns the whole command line, which each command describes itself.
func table(c *command) *output.CommandLine {
	line := &output.CommandLine{Name: "atelier", Also: []string{"atelier-headless"}, About: usage, Codes: exitCodes}
	seen := map[string]bool{}
	add := func(words ...string) (help string) {
		var text strings.Builder
		described := false
		each := *c
		each.in, each.out, each.err = strings.NewReader(""), io.Discard, &text
		each.describe = func(flags *pflag.FlagSet) {
			described = true
			line.Commands = append(line.Commands, output.Described{Words: words, Use: flags.Name(), Flags: flags})
		}
		each.main(append(slices.Clone(words), "--help"))
		if described {
			return ""
		}
		return text.String()
	}
	for _, m := range namesInUsage.FindAllStringSubmatch(usage, -1) {
		name := m[1]
		if seen[name] {
			continue
		}
		seen[name] = true
		switch name {
		case "version": // has no flags
			line.Commands = append(line.Commands, output.Described{Words: []string{name}, Use: "atelier version", Flags: pflag.NewFlagSet("", pflag.ContinueOnError)})
		case "worktrees":
			add(name, "list")
			add(name, "remove")
		default:
			for _, sub := range namesInHelp.FindAllStringSubmatch(add(name), -1) {
				add(name, sub[1])
			}
		}
	}
	return line
}
