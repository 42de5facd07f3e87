package command

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// randomLines makes random lines that give values to variables and use them.
type randomLines struct{ *rand.Rand }

func (l randomLines) pick(of ...string) string { return of[l.IntN(len(of))] }

func (l randomLines) line(depth int) string {
	if depth == 0 {
		return l.pick("f=a", "f=b", "g=c", "g=$f", "f=d g=e", `cat "$f"`, "cat $f", `cat "$g"`, "cat $f $g", "cat x", "true", "false")
	}
	inside := func() string { return l.line(depth - 1) }
	switch l.IntN(9) {
	case 0:
		return fmt.Sprintf("for %s in %s; do %s; done", l.pick("f", "g"), l.pick("h", "i j", "$f", `"$g"`), inside())
	case 1:
		return fmt.Sprintf("if %s; then %s; else %s; fi", inside(), inside(), inside())
	case 2:
		return "{ " + inside() + "; }"
	case 3:
		return "(" + inside() + ")"
	case 4:
		return inside() + " && " + inside()
	case 5:
		return inside() + " || " + inside()
	case 6:
		return inside() + " | " + inside()
	case 7:
		return inside() + "; " + inside()
	default:
		return "! " + l.line(0) + "; " + inside()
	}
}

// What a line reads in bash is what its reading says, whatever its variables are.
func TestVariablesAreWhatTheyAreInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	const seed = 11
	l := randomLines{rand.New(rand.NewPCG(seed, seed))}
	accepted := 0
	for accepted < 300 {
		line := l.line(3)
		r, ok := Read(line)
		if !ok || !strings.Contains(line, "$") {
			continue
		}
		accepted++
		// Standard error has what the command was given, whatever becomes of its output.
		cmd := exec.Command(bash, "-c", `cat() { printf '%s\n' "$@" >&2; }`+"\n"+line)
		var read strings.Builder
		cmd.Stderr = &read
		_ = cmd.Run() // a line may end with a failure
		for _, name := range strings.Split(strings.TrimSuffix(read.String(), "\n"), "\n") {
			if read.Len() > 0 && !slices.Contains(r.Paths, name) {
				t.Errorf("seed %d: %s\nreads %q, and the reading says %q", seed, line, name, r.Paths)
			}
		}
	}
}
