package rule

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// A rule that can be read is written as it was read, and neither reading nor
// judging fails, whatever they are given.
func FuzzRules(f *testing.F) {
	for _, seed := range [][2]string{
		{"Bash(git push *)", "git push origin main"}, {"Bash(npm run test:*)", "npm run test"}, {`Bash(ls \*.go)`, "ls *.go"}, {"Read(src/**)", "cat src/a"},
		{"Edit(//etc/**)", "echo x > /etc/hosts"}, {"WebFetch(domain:*.go.dev)", "https://x.go.dev"}, {"mcp__s__*", "mcp__s__t"}, {"Agent(x)", "x"},
		{"Bash(a 'b c' * d*)", "a 'b c' x d"}, {"Read(**/**/x[a-z])", "/x"}, {"*", "x"}, {"Read(~/x)", "~/x"}, {`Bash(\\\*)`, `\`},
		{"Bash(rm *)", "f() { rm x; }; f; $(sh -c \"rm $X\") <(rm y)"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, what string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(r.String())
		if err != nil || again != r {
			t.Fatalf("%q became %+v, then %+v, %v", text, r, again, err)
		}
		Describe(r)
		input, _ := json.Marshal(map[string]string{"url": what, "name": what})
		project := Place{Project: "/project", Home: "/home/u"}
		for _, call := range []agent.GateCall{
			{Tool: "Bash", Access: agent.Access{Command: what}},
			{Tool: "Read", Access: agent.Access{Reads: []string{"/project/" + what}}},
			{Tool: "Edit", Access: agent.Access{Writes: []string{"/" + what}}},
			{Tool: "WebFetch", Input: input}, {Tool: "Agent", Input: input}, {Tool: what},
		} {
			said := map[agent.Decision]agent.Decision{}
			for _, d := range []agent.Decision{agent.Allow, agent.Ask, agent.Deny} {
				r.Decision = d
				said[d] = New(project, []Rule{r}).Judge(call, nil).Decision
			}
			// What a rule would allow, it would also deny: else a pair of rules that
			// look alike would leave something open.
			if said[agent.Allow] == agent.Allow && said[agent.Deny] == "" {
				t.Errorf("%s allows %+v, and does not deny it", r, call)
			}
			if said[agent.Deny] == agent.Deny && said[agent.Ask] != agent.Ask {
				t.Errorf("%s denies %+v, and does not ask about it: %q", r, call, said[agent.Ask])
			}
		}
	})
}

// The suggested rule for a command allows it, allows nothing more than its
// words say, and is never a rule for a program that runs others.
func FuzzSuggestions(f *testing.F) {
	for _, seed := range []string{"git push origin main", "npm run test", "ls *.go", `echo "a*b" \*`, "python x.py", "go test ./... && make", "env A=b make", "./x (a)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		place := Place{Project: "/project"}
		call := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command}}
		for i, r := range Suggest(call, place) {
			if got := New(place, []Rule{r}).Judge(call, nil).Decision; got != agent.Allow || r.TooWide() {
				t.Errorf("%s for %q: %q", r, command, got)
			}
			longer := call
			longer.Access.Command = strings.TrimSpace(command) + " x"
			if i == 0 && New(place, []Rule{r}).Judge(longer, nil).Decision == agent.Allow {
				t.Errorf("%s for %q also allows %q", r, command, longer.Access.Command)
			}
		}
	})
}
