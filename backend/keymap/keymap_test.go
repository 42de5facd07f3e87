package keymap_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/keymap"
)

// The keys that a person chose are in a file, which another start of the program reads, and which
// can be written by hand (OC-05).
func TestKeysOutliveTheProgram(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	choice := keymap.KeyChoice{Preset: "code", Keys: map[string][]string{"palette": {"Ctrl+P", "F1"}, "terminal": {}}}
	if _, err := keymap.New(home).Set(t.Context(), choice); err != nil {
		t.Fatal(err)
	}
	got, err := keymap.New(home).Get(t.Context(), backend.Empty{})
	if diff := cmp.Diff(keymap.KeyFile{KeyChoice: choice, Path: filepath.Join(home, "keys.json")}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	byHand := `{"keys": {"new": ["Alt+X"]}}`
	if err := os.WriteFile(got.Path, []byte(byHand), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err = keymap.New(home).Get(t.Context(), backend.Empty{}); err != nil || got.Keys["new"][0] != "Alt+X" {
		t.Errorf("%+v %v", got, err)
	}
}

// A damaged file is said and kept, and the usual keys hold.
func TestADamagedFileIsKept(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON": "{", "another form": `{"keys": ["Ctrl+K"]}`, "too long": strings.Repeat(" ", 65<<10) + "{}",
		"too many keys": `{"keys": {"new": ["1","2","3","4","5","6","7","8","9"]}}`, "a long key": `{"keys": {"new": ["` + strings.Repeat("A", 61) + `"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := filepath.Join(home, "keys.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			keys := keymap.New(home)
			got, err := keys.Get(t.Context(), backend.Empty{})
			if err != nil || got.Damaged == "" || got.Keys != nil {
				t.Errorf("%+v %v", got, err)
			}
			var problem *backend.Error
			if _, err = keys.Set(t.Context(), keymap.KeyChoice{}); !errors.As(err, &problem) || problem.ID != backend.ProblemKeysUnsaved {
				t.Errorf("%v", err)
			}
			if b, _ := os.ReadFile(path); string(b) != text {
				t.Errorf("the file has changed")
			}
		})
	}
}
