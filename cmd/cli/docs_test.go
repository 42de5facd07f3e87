package cli_test

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the commands and flags in docs/guide/command-line.md")

const commandLinePage = "../../docs/guide/command-line.md"

// TestCommandLinePage compares the guide with the help of every command.
func TestCommandLinePage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	names := func(help, pattern string) (out []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(help, -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
		if len(out) < 2 {
			t.Fatalf("no commands in %q", help)
		}
		return out
	}
	usage, _, _ := p.run("--help")
	var reference strings.Builder
	reference.WriteString("```text\n" + usage + "```\n")
	show := func(args ...string) {
		_, help, code := p.run(append(args, "--help")...)
		if code != 0 || !strings.HasPrefix(help, "Usage: ") {
			t.Errorf("%v: exit code %d, %q", args, code, help)
		}
		reference.WriteString("\n### atelier " + strings.Join(args, " ") + "\n\n```text\n" + help + "```\n")
	}
	for _, name := range names(usage, `(?m)^  atelier (\w+)`) {
		switch name {
		case "version": // has no flags
		case "worktrees":
			show(name, "list")
			show(name, "remove")
		case "sessions", "skills", "mcp", "hooks":
			_, help, _ := p.run(name, "--help")
			for _, sub := range names(help, `(?m)^  (\w+) `) {
				show(name, sub)
			}
		default:
			show(name)
		}
	}
	page, err := os.ReadFile(commandLinePage)
	if err != nil {
		t.Fatal(err)
	}
	before, got, ok := strings.Cut(string(page), "```text\n")
	if !ok {
		t.Fatal("the page has no help")
	}
	if *update {
		if err := os.WriteFile(commandLinePage, []byte(before+reference.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(reference.String(), "```text\n"+got); diff != "" {
		t.Errorf("the page differs from the program (-program +page); run this test with -update:\n%s", diff)
	}
}
