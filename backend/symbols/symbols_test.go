package symbols_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend/symbols"
	"github.com/google/go-cmp/cmp"
)

// OC-07: a symbol of the project is found by a part of its name, where a session works.
func TestFind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module shop\n", "cart/cart.go": "package cart\n\n// Cart has goods.\ntype ShoppingCart struct{}\n\nfunc (c *ShoppingCart) Total() int { return 0 }\n"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	servers := lsp.New(lsp.Config{Languages: func(context.Context) []lsp.Language { return lsp.Languages }})
	t.Cleanup(servers.Close)
	find := symbols.New(symbols.Config{
		Servers: func() *lsp.Servers { return servers }, FolderOf: func(context.Context, string) (string, error) { return folder, nil },
	})
	for query, want := range map[string][]symbols.CodeSymbol{
		"shop":    {{Name: "ShoppingCart", Path: "cart/cart.go", Line: 4}},
		"total":   {{Name: "Total", Path: "cart/cart.go", Line: 6}},
		"missing": nil,
	} {
		got, err := find.Find(t.Context(), symbols.SymbolQuery{Query: query})
		if diff := cmp.Diff(want, got.Symbols); diff != "" || err != nil {
			t.Errorf("%s: %v %s", query, err, diff)
		}
	}
}
