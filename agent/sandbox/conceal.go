package sandbox

import (
	"os"
	"slices"
	"strings"
)

// concealed are the entries that Conceal took from this program's environment.
var concealed []string

// Conceal keeps the secrets of this program's environment from the commands
// that it runs, which are the same user's and could read /proc: it takes them
// out of the environment, for helpers that libraries start, and on Linux closes
// the program's own entry in /proc, which shows the environment it was started
// with. It returns what looks a variable up as before.
//
// Programs call it first, while nothing else reads the environment.
func Conceal() (getenv func(string) string) {
	taken := map[string]string{}
	for _, entry := range os.Environ() {
		if name, value, _ := strings.Cut(entry, "="); !(Filter{}).passes(name, value) {
			taken[name] = value
			concealed = append(concealed, entry)
			_ = os.Unsetenv(name)
		}
	}
	closeProc()
	return func(name string) string {
		if value, ok := taken[name]; ok {
			return value
		}
		return os.Getenv(name)
	}
}

// Environ is this program's environment with what [Conceal] took from it, for a
// [Filter] to choose from.
func Environ() []string { return slices.Concat(os.Environ(), concealed) }
