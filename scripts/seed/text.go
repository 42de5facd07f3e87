package main

import (
	"fmt"
	"strings"
)

var words = strings.Fields(`the session keeps its events in one log so that a reader finds what
happened and why cache index parser token stream buffer request answer retry cancel handler
of with from into before after while because every some no other first last small large
returns writes reads stores checks skips joins splits moves counts file line test row page
window order cart price total user server client queue worker lock timer error value`)

func (a *author) word() string { return words[a.rand.IntN(len(words))] }

// prose returns sentences of n words in all.
func (a *author) prose(n int) string {
	var b strings.Builder
	for i := range n {
		word := a.word()
		switch {
		case i == 0:
		case i%12 == 0:
			b.WriteString(". ")
		default:
			b.WriteByte(' ')
		}
		if i%12 == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		b.WriteString(word)
	}
	return b.String() + "."
}

// report returns the Markdown of a last answer. One in eight is long.
func (a *author) report() string {
	sections := 1
	if a.rand.IntN(8) == 0 {
		sections = 8
	}
	var b strings.Builder
	for i := range sections {
		fmt.Fprintf(&b, "## Part %d: %s\n\n%s\n\n", i+1, a.word(), a.prose(30+a.rand.IntN(60)))
		for range 2 + a.rand.IntN(4) {
			fmt.Fprintf(&b, "- `%s.go:%d` **%s** %s\n", a.word(), 1+a.rand.IntN(400), a.word(), a.prose(8))
		}
		if a.rand.IntN(2) == 0 {
			fmt.Fprintf(&b, "\n```go\n%s```\n", a.code(6+a.rand.IntN(20)))
		}
		if a.rand.IntN(4) == 0 {
			fmt.Fprintf(&b, "\n| %s | %s |\n|---|---|\n| %s | %d |\n| %s | %d |\n",
				a.word(), a.word(), a.word(), a.rand.IntN(99), a.word(), a.rand.IntN(99))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// code returns lines of Go.
func (a *author) code(lines int) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "\tif %s, err := %s.%s(%d, %q); err != nil { // %s\n",
			a.word(), a.word(), a.word(), a.rand.IntN(1000), a.word(), a.word())
	}
	return b.String()
}

// listing returns lines of a search or of a test's output.
func (a *author) listing(lines int) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "internal/%s/%s.go:%d: %s\n", a.word(), a.word(), 1+a.rand.IntN(900), a.prose(6))
	}
	return b.String()
}

// diff returns the change of a few lines in one or two places.
func (a *author) diff() (diff string, added, removed int) {
	var b strings.Builder
	for at := range 1 + a.rand.IntN(2) {
		dels, adds := 1+a.rand.IntN(4), 1+a.rand.IntN(8)
		from := 10 + 200*at
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@ func %s()\n", from, dels+6, from, adds+6, a.word())
		for _, part := range []struct {
			sign  string
			lines int
		}{{" ", 3}, {"-", dels}, {"+", adds}, {" ", 3}} {
			for line := range strings.Lines(a.code(part.lines)) {
				b.WriteString(part.sign + line)
			}
		}
		added, removed = added+adds, removed+dels
	}
	return b.String(), added, removed
}
