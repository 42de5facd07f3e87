package cli

import (
	"errors"
	"testing"
)

// Settings, rules and skills of the user are in this folder. On Windows it has
// another variable.
func TestHomeIsFoundWithoutItsVariable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, variable, home, want string }{
		{"HOME", "/home/ada", "/other", "/home/ada"},
		{"HOME", "", `C:\Users\ada`, `C:\Users\ada`},
		{"HOME", "", "", ""},
		{"PATH", "", `C:\Users\ada`, ""},
	} {
		home := func() (string, error) {
			if test.home == "" {
				return "", errors.New("no home")
			}
			return test.home, nil
		}
		getenv := withHome(func(string) string { return test.variable }, home)
		if got := getenv(test.name); got != test.want {
			t.Errorf("%s is %q where it is %q and the home is %q, want %q", test.name, got, test.variable, test.home, test.want)
		}
	}
}
