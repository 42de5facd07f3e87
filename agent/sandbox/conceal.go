package sandbox

import (
	"os"
	"slices"
	"strings"
)

// concealed has the entries that Conceal removed from this program's
// environment.
var concealed []string

// Conceal hides the secrets in this program's environment from the commands
// that it runs, which belong to the same user and could read /proc. It removes
// them from the environment, also for helpers that libraries start, and on
// Linux makes the program's own entry in /proc unreadable, which shows the
// original environment. It returns a function that still looks up every
// variable.
//
// Programs call it first, before anything else reads the environment.
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

// Environ returns this program's environment including what [Conceal] removed,
// for a [Filter] to choose from.
func Environ() []string { return slices.Concat(os.Environ(), concealed) }
