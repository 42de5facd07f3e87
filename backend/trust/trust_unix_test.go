//go:build unix

package trust

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// A pipe in the place of a script is not waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.accept()
	if err := errors.Join(os.Remove(w.path(script)), syscall.Mkfifo(w.path(script), 0o644)); err != nil {
		t.Fatal(err)
	}
	w.wants(StateChanged)
	if shown := w.show(); !shown.Blocked || shown.Texts[1].Omitted != OmittedSpecial {
		t.Errorf("%+v", shown)
	}
}
