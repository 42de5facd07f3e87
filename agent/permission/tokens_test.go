package permission

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
)

// What reads a file of settings is asked about if a token stands in it: by its name, and
// through a link.
func TestTokensInSettingsAreAskedAbout(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	p := newPolicy(t, in(""), Rules{Allow: []string{"Read"}})
	for name, text := range map[string]string{
		".git/config": "url = https://u:pw@example.com/x", ".npmrc": "//r/:_authToken=x1", "pip.conf": "index-url = https://u:pw@example.com/",
		".gitmodules": "url = https://u:pw@example.com/x", "gradle.properties": "apiKey=abc",
	} {
		for text, want := range map[string]agent.Decision{text: agent.Ask, "plain = yes": agent.Allow} {
			if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			link := in("sub/" + filepath.Base(name))
			_ = os.Remove(link)
			if err := os.Symlink(in(name), link+".link"); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			for _, path := range []string{in(name), link + ".link"} {
				for _, mode := range []agent.Mode{agent.ModeDefault, agent.ModeAuto} {
					call := reads(path)
					call.Mode = mode
					if v := p.Decide(t.Context(), call); v.Decision != want {
						t.Errorf("%s with %q in %s: %s (%s)", path, text, mode, v.Decision, v.Reason)
					}
				}
			}
		}
	}
}
