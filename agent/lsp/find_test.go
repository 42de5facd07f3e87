package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OC-07: while a person types, symbols come from a server that runs, else from a search, and a
// server is not started for it.
func TestFind(t *testing.T) {
	t.Parallel()
	p := newProject(t, "", nil)
	p.write(t, "sub/b.toy", "  def Alphabet(z)\n")
	got, err := Find(t.Context(), p.Servers, p.env, "alpha")
	want := []Symbol{{Name: "alpha", Path: "a.toy", Line: 2}, {Name: "Alphabet", Path: "sub/b.toy", Line: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, query := range []string{"", " ", "nothing_of_this", `(`, `\`} {
		if got, err := Find(t.Context(), p.Servers, p.env, query); len(got) > 0 || err != nil {
			t.Errorf("%q: %v %v", query, got, err)
		}
	}
	if len(p.needed(t)) > 0 {
		t.Errorf("a server was started: %+v", p.needed(t))
	}
	var many strings.Builder
	for i := range 500 {
		fmt.Fprintf(&many, "def alpha%d(x)\n", i)
	}
	p.write(t, "many.toy", many.String())
	if got, err := Find(t.Context(), p.Servers, p.env, "alpha"); len(got) != maxSymbols || err != nil {
		t.Errorf("%d symbols, %v", len(got), err)
	}
}
