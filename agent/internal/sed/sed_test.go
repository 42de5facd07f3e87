package sed_test

import (
	"testing"

	"atelier.dev/atelier/agent/internal/sed"
)

// A script that runs, reads or writes something is found; lines.txt and readers.txt of
// package command have many more.
func TestDoesMore(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"":                      false,
		"s/a/b/g":               false,
		"1,5p":                  false,
		"/x/{s/a/b/;p}":         false,
		"y/abc/xyz/":            false,
		"a some e text":         false,
		"s/a/b/e":               true,
		"s/a/b/w out.txt":       true,
		"e rm -rf x":            true,
		"1e":                    true,
		"r /etc/passwd":         true,
		"w out.txt":             true,
		"s/[/]x/e":              true, // some programs read it as the flag e
		"s/a/b":                 true, // it is not understood
		"/unfinished":           true,
		"$!{N;s/\\n/ /;ba};W o": true,
	} {
		if got := sed.DoesMore([]string{script}); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
}
