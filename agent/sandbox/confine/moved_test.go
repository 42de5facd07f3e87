package confine

import (
	"slices"
	"testing"
)

// K-47: secrets and caches are found where the user's variables say that they are.
func TestMovedByVariables(t *testing.T) {
	t.Parallel()
	environ := map[string]string{
		"XDG_CONFIG_HOME": "/data/config", "GNUPGHOME": "/data/gpg", "KUBECONFIG": "/data/k1:/data/k2", "CARGO_HOME": "/data/cargo", "DOCKER_CONFIG": "relative",
		"XDG_CACHE_HOME": "/data/cache", "GOPATH": "/data/go:/data/other", "GOCACHE": "/data/build", "HISTFILE": "/dev/null", "CLAUDE_CONFIG_DIR": "/home", "npm_config_cache": "/home/u",
		"AZURE_CONFIG_DIR": "/home/u/p/..", "GH_CONFIG_DIR": "/data/gh", "BUN_INSTALL_CACHE_DIR": "off",
	}
	at := Place{
		Project: "/home/u/p", Home: "/home/u", Cache: "/own", Getenv: func(name string) string { return environ[name] },
		Secrets: []string{"/data/key.json", "/home", "/home/u/keys"},
	}
	p := Combine().At(at)
	for _, path := range []string{
		"/data/config/git/credentials", "/data/config/gh", "/data/gh", "/data/gpg", "/home/u/.gnupg", "/data/k1", "/data/k2", "/data/cargo/credentials.toml", "/data/key.json", "/home/u/keys",
		"/data/cache/huggingface/token",
	} {
		if !slices.Contains(p.Hidden, path) {
			t.Errorf("%s is shown", path)
		}
	}
	for _, path := range []string{"/home", "/home/u", "/dev/null", "relative"} {
		if slices.Contains(p.Hidden, path) {
			t.Errorf("%s is hidden", path)
		}
	}
	for own, want := range map[string]string{"xdg": "/data/cache", "go-build": "/data/build", "go-pkg": "/data/go/pkg", "go-bin": "/data/go/bin", "npm": "/home/u/.npm", "cargo-git": "/data/cargo/git", "pip": "/data/cache/pip", "bun": "/home/u/.bun"} {
		if i := slices.IndexFunc(p.Caches, func(c Cache) bool { return c.Own == "/own/"+own }); i < 0 || p.Caches[i].Path != want {
			t.Errorf("%s: %+v, want %s", own, p.Caches[max(i, 0)], want)
		}
	}
	if got := at.Kept("/data/go/pkg/mod/x"); !slices.Contains(got, "/own/go-pkg/changes/mod/x") {
		t.Errorf("kept at %v", got)
	}
}
