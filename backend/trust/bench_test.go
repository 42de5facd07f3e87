package trust

import (
	"strconv"
	"testing"

	"atelier.dev/atelier/agent"
)

// A check of all items costs in proportion to how many there are.
func BenchmarkCheckAll(b *testing.B) {
	for _, n := range []int{50, 200, 400} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			folder := b.TempDir()
			t := New(Config{Folder: folder, User: b.TempDir(), Store: &memory{values: map[string]string{}}})
			var items []Item
			for i := range n {
				name := "server" + strconv.Itoa(i)
				items = append(items, Item{
					Kind: KindServer, ID: name, Title: name, Origin: folder + "/.mcp.json", Slot: name, Scope: agent.ScopeProject, Definition: name,
				})
			}
			t.SetItems(KindServer, items)
			if _, err := t.AcceptForRun(b.Context(), KindServer); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for _, item := range items {
					if state, err := t.Check(b.Context(), item.ID, ""); err != nil || state != StateTrusted {
						b.Fatal(state, err)
					}
				}
			}
		})
	}
}
