package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"atelier.dev/atelier/agent"
)

// project makes a folder of 10,000 files in 500 directories.
func project(b *testing.B) (home, folder string) {
	b.Helper()
	home, folder = b.TempDir(), b.TempDir()
	text := make([]byte, 0, 8000)
	for i := 0; len(text) < 4000; i++ {
		text = fmt.Appendf(text, "func f%d(x int) (int, error) { return x * %d, nil }\n", i, i*i)
	}
	for i := range 10_000 {
		dir := filepath.Join(folder, fmt.Sprint("p", i%20), fmt.Sprint("d", i/20%25))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i, ".go")), fmt.Appendf(nil, "%d\n%s", i, text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, ".ignore"), []byte("*.log\nout/\nbuild/*\n!build/keep\n**/cache/**\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	return home, folder
}

// BenchmarkStep measures what the journal adds to a call in a project of 10,000
// files.
func BenchmarkStep(b *testing.B) {
	home, folder := project(b)
	command := agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x"}}
	for _, c := range []struct {
		name   string
		sweeps bool
		call   agent.GateCall
		change int
	}{
		{"read", false, agent.GateCall{Tool: "Read", ReadOnly: true}, 0},
		{"edit", false, agent.GateCall{Tool: "Edit", Access: agent.Access{Writes: []string{"p1/d0/f1.go"}}}, 1},
		{"command that changes nothing", false, command, 0},
		{"command that changes 1 file", false, command, 1},
		{"command that changes 100 files", false, command, 100},
		{"command that changes nothing, swept", true, command, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			j := Open(home)
			defer j.Close()
			if c.sweeps {
				j.Sweep()
			}
			r := j.Recorder("s", folder)
			<-j.tree(folder).settled
			b.StopTimer()
			b.ResetTimer()
			for n := range b.N {
				b.StartTimer()
				end := r.Begin(b.Context(), "id", c.call)
				b.StopTimer()
				for i := range c.change {
					name := filepath.Join(folder, "p1", "d0", fmt.Sprint("f", 1+i*500, ".go"))
					if i >= 20 {
						name = filepath.Join(folder, "p1", "d0", fmt.Sprint("new", i))
					}
					if err := os.WriteFile(name, fmt.Appendf(nil, "%d %d", n, i), 0o644); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				if end != nil {
					end(b.Context())
				}
				b.StopTimer()
			}
		})
	}
}

// BenchmarkBaseline measures how long it takes until 10,000 files are known: the
// first time, and in the next process.
func BenchmarkBaseline(b *testing.B) {
	home, folder := project(b)
	for _, name := range []string{"first", "again"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				at := home
				if name == "first" {
					at = b.TempDir()
				}
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				b.StartTimer()
				j := Open(at)
				<-j.tree(folder).settled
				b.StopTimer()
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/1e6, "MB")
				j.Close()
			}
		})
		if name == "first" {
			j := Open(home)
			<-j.tree(folder).settled
			j.Close()
		}
	}
}
