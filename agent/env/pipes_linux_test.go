package env

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A25, F10: no pipe stops a search, wherever it is.
func TestPipesDoNotStopSearches(t *testing.T) {
	t.Parallel()
	for _, pipe := range []string{".gitignore", ".ignore", ".rgignore", "data", "sub/fifo"} {
		bothSearches(t, map[string]string{"a.txt": "hit\n", "sub/b.txt": "hit\n", ".git/HEAD": "x"}, func(t *testing.T, l *Local) {
			if err := syscall.Mkfifo(filepath.Join(l.dir, pipe), 0o600); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			got, err := l.Grep(t.Context(), GrepQuery{Pattern: "hit"})
			if err != nil || strings.Join(got.Lines, " ") != "a.txt sub/b.txt" {
				t.Errorf("%s: %+v, %v", pipe, got, err)
			}
			files, err := l.Glob(t.Context(), GlobQuery{Pattern: "**/*.txt"})
			if err != nil || len(files.Lines) != 2 {
				t.Errorf("%s: %+v, %v", pipe, files, err)
			}
			if _, err := l.Grep(t.Context(), GrepQuery{Pattern: "hit", Path: pipe}); err == nil || !strings.Contains(err.Error(), "is a named pipe") {
				t.Errorf("%s: %v", pipe, err)
			}
			if took := time.Since(begin); took > SearchTimeout/2 {
				t.Errorf("%s: it took %s", pipe, took)
			}
		})
	}
}
