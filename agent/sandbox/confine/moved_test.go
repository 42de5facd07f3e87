package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// Of variables that were taken out of the environment, what they lead to is a secret.
func TestSecretPaths(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("SHOWN_DIR", home)
	for _, path := range []string{home + "/keys/a", other + "/b.json", other + "/c"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := SecretPaths([]string{
		"SHOWN_DIR=" + other + "/c", "A_TOKEN_DIR=" + home + "/keys", "B_CREDENTIALS=" + other + "/b.json", "C_KEY_DIR=" + other, "D_KEY=text", "E_KEY=" + other + "/gone",
		"AWS_CA_BUNDLE=" + other + "/b.json", "MY_SECRET_CAFILE=" + other + "/c", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" + other + "/c", "KEY_SSL_CA_CERTS=" + other + "/c", "AUTH_ROOT_CERT=" + other + "/c",
		"F_KEYS=" + other + "/c:" + home + "/keys/a:relative", "G",
	}, home)
	if diff := cmp.Diff([]string{home + "/keys", other + "/b.json", other + "/c", home + "/keys/a"}, got); diff != "" {
		t.Error(diff)
	}
}
