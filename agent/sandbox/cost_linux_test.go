package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// sessionProfile is what the commands of a session may do by default, in a home
// with some secrets.
func sessionProfile(b *testing.B) (p confine.Profile, project string) {
	b.Helper()
	base, err := os.MkdirTemp("/var/tmp", "bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(base) })
	for _, name := range []string{
		"home/project/.git", "home/.ssh", "home/.docker", "home/.gnupg", "home/.config/gh", "atelier/confined/cache", "atelier/output/tmp",
	} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	own := filepath.Join(base, "atelier")
	project = filepath.Join(base, "home/project")
	return confine.Combine().At(confine.Place{
		Project: project, Home: filepath.Join(base, "home"), Own: []string{own}, Visible: []string{own + "/output"},
		Temp: own + "/output/tmp", Cache: own + "/confined/cache",
	}), project
}

// BenchmarkConfined compares an empty command without a confinement and with
// each means. Some figures are in docs/performance.md.
func BenchmarkConfined(b *testing.B) {
	profile, project := sessionProfile(b)
	for _, row := range []struct {
		name    string
		by      enforcer
		confine *confine.Profile
	}{{"free", nil, nil}, {"launcher", wholeLauncher(), &profile}, {"landlock", findLandlock(confine.Level{}), &profile}} {
		b.Run(row.name, func(b *testing.B) {
			if row.by != nil && !row.by.level().Works() {
				b.Skip(row.by.level().Sentence())
			}
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				r, err := Run(b.Context(), Spec{by: row.by, Argv: []string{"/bin/bash", "--norc", "--noprofile", "-c", "true"}, Dir: project, Confine: row.confine})
				took = append(took, time.Since(begin))
				if err != nil || r.ExitCode != 0 {
					b.Fatal(r, err)
				}
				settle() // the next command does not begin while this one is being taken down
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[0].Microseconds())/1000, "least-ms")
		})
	}
}

// BenchmarkJail measures what is prepared for a confined command before it
// starts, and put back afterwards.
func BenchmarkJail(b *testing.B) {
	profile, project := sessionProfile(b)
	for name, by := range allMeans() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				j, err := by.jail(Spec{Confine: &profile, Dir: project}, []string{"/bin/true"})
				if err != nil {
					b.Skip(err)
				}
				j.release()
			}
		})
	}
}
