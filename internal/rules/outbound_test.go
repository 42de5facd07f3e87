package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// connects finds what begins a connection.
var connects = regexp.MustCompile(`\bhttp\.(Client|Transport)\{|\bhttp\.(DefaultClient|DefaultTransport|Get|Head|Post|PostForm)\b|\bnet\.(Dial|Dialer)\b|\btls\.Dial|\bwebsocket\.Dial\(`)

// within are the files that connect without package outbound, and why they may.
var within = map[string]string{
	"agent/llm/compat/local.go":     "reaches addresses of loopback alone",
	"agent/sandbox/ports_linux.go":  "reaches localhost",
	"agent/sandbox/ports_other.go":  "reaches localhost",
	"backend/instance/instance.go":  "reaches sockets of the file system",
	"internal/outbound/outbound.go": "is the way itself",
}

// OC-06: whatever makes a client or dials passes through package outbound, so that its list of
// hosts is complete and offline is offline.
func TestConnectionsPassThroughOutbound(t *testing.T) {
	t.Parallel()
	found := 0
	for _, folder := range []string{"agent", "backend", "storage", "cmd", "desktop", "internal"} {
		err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			name := filepath.ToSlash(path)
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(filepath.Dir(name), "test") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || !connects.Match(raw) {
				return err
			}
			found++
			if within[name] == "" && !strings.Contains(string(raw), `"atelier.dev/atelier/internal/outbound"`) {
				t.Errorf("%s makes a connection that is neither counted nor refused offline: %s", name, connects.Find(raw))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 12 {
		t.Errorf("only %d files connect: the rule has lost its sight", found)
	}
}
