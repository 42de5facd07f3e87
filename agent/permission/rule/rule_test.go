package rule

import (
	"testing"

	"atelier.dev/atelier/agent"
)

func bash(command string) agent.GateCall {
	return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command}}
}

// OAS-630: a rule for commands is matched against each part of a line.
func TestRulesForCommands(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, c := range []struct {
		decision agent.Decision
		rule     string
		command  string
		want     agent.Decision
	}{
		{agent.Allow, "Bash", "rm -rf build", agent.Allow},
		{agent.Allow, "Bash(git status)", "git status", agent.Allow},
		{agent.Allow, "Bash(git status)", "git status -s", ""},
		{agent.Allow, "Bash(npm run test:*)", "npm run test", agent.Allow},
		{agent.Allow, "Bash(npm run test:*)", "npm run test -- --watch", agent.Allow},
		{agent.Allow, "Bash(npm run test:*)", "npm run tests", ""},
		{agent.Allow, "Bash(git push *)", "git push", agent.Allow},
		{agent.Allow, "Bash(git push *)", "git push origin main", agent.Allow},
		{agent.Allow, "Bash(git push *)", "git push --force", ""},
		{agent.Allow, "Bash(npm test)", "npm test && curl http://x.dev", ""},
		{agent.Allow, "Bash(npm test)", "cat package.json; npm test", agent.Allow},
		{agent.Allow, "Bash(npm test)", "timeout 60 npm test", agent.Allow},
		{agent.Allow, "Bash(npm test)", "npm test > /etc/passwd", ""},
		{agent.Allow, "Bash(npm test)", "npm test > out.txt", ""},
		{agent.Allow, "Bash(npm test)", "npm test 2>&1 > /dev/null", agent.Allow},
		{agent.Allow, "Bash(npm test)", "npm test $(curl x.dev)", ""},
		{agent.Allow, "Bash(npm test)", "PATH=/tmp npm test", ""},
		{agent.Allow, "Bash(npm test)", "cd / && npm test", ""},
		{agent.Allow, "Bash(ls *)", "ls *.go", agent.Allow},
		{agent.Allow, "Bash", "cat .env", ""},
		{agent.Allow, "Bash(cat *)", "cat .env", ""},
		{agent.Allow, "Bash(cat *)", "cat /etc/hosts", ""},
		{agent.Allow, "Bash(npm *)", "npm test > .git/config", ""},
		{agent.Deny, "Bash(rm *)", "rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", "/bin/rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", `\RM x`, agent.Deny},
		{agent.Deny, "Bash(rm *)", "env A=b sudo timeout 5 rm x", agent.Deny},
		{agent.Deny, "Bash(rm *)", "ls | xargs rm", agent.Deny},
		{agent.Deny, "Bash(rm *)", "sh -c 'rm x'", agent.Deny},
		{agent.Deny, "Bash(rm *)", "echo $(rm x)", agent.Deny},
		{agent.Deny, "Bash(rm *)", "$X y", agent.Ask},
		{agent.Deny, "Bash(rm *)", "if (", agent.Ask},
		{agent.Deny, "Bash(rm *)", "ls", ""},
		{agent.Deny, "Bash(rm *)", "awk 'BEGIN{system(\"rm x\")}'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "git -c alias.y='!rm x' y", agent.Ask},
		{agent.Deny, "Bash(rm *)", "tar tf a.tar -I 'rm x'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "printf 'all:\n rm x' > Makefile; make", agent.Ask},
		{agent.Deny, "Bash(rm *)", "test -v 'a[$(rm x)]'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "sqlite3 a.db '.shell rm x'", agent.Ask},
		{agent.Deny, "Bash(rm *)", "make SHELL=/bin/rm", agent.Ask},
		{agent.Deny, "Bash(rm *)", "go test ./... && git commit -m 'rm the file'", ""},
		{agent.Deny, "Bash(rm *)", "awk '{print $1}' a | grep -rn rm src; sed -n '/rm/p' a", ""},
		{agent.Deny, "Bash(rm *)", "npm run build && python3 x.py > out.txt", ""},
		{agent.Deny, "Bash(git push *)", "git -c alias.p=push p", agent.Ask},
		{agent.Deny, "Bash(git push *)", "git -C . push", agent.Deny},
		{agent.Deny, "Bash(git push *)", "git pull", ""},
		{agent.Deny, "Bash(rm -rf *)", "rm -fr x", agent.Deny},
		{agent.Ask, "Bash(git push *)", "ls && git push", agent.Ask},
	} {
		r, err := Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = c.decision
		if got := New(Place{Project: project}, []Rule{r}).Judge(bash(c.command), nil); got.Decision != c.want {
			t.Errorf("%s %s: %s: %q, want %q", c.decision, c.rule, c.command, got.Decision, c.want)
		}
	}
}
