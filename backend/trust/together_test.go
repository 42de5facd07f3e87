package trust

import "testing"

// What another process decides between the reading and the writing of a decision is kept.
func TestDecisionsOfTwoProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	items := []Item{{Kind: KindHook, ID: "a", Definition: "a", Command: Command{Line: "true a"}}, {Kind: KindHook, ID: "b", Definition: "b", Command: Command{Line: "true b"}}}
	w.SetItems(KindHook, items)
	other := New(Config{Folder: w.project, User: w.user, Store: w.store})
	other.SetItems(KindHook, items)
	accept := func(by *Trust, id string) {
		t.Helper()
		shown, err := by.Show(t.Context(), id)
		if err == nil {
			err = by.Accept(t.Context(), id, shown.Seal)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.store.change = func() { accept(other, "b") }
	accept(w.Trust, "a")
	list, err := w.List(t.Context())
	if err != nil || len(list) != 2 || list[0].State != StateTrusted || list[1].State != StateTrusted {
		t.Errorf("%+v, %v", list, err)
	}
}
