package sensitive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Patterns of searches that may bring back a hidden file with secrets, and those
// that cannot.
func TestPatternsThatMatchSecrets(t *testing.T) {
	t.Parallel()
	for want, patterns := range map[bool]string{
		true:  "* *env .* .en? [.]env {.env,a} .E* ?env **/* src/** *.local *.env *.{go,env} .env* **/.env *.pem *.* */ [!a]*",
		false: "*.go *.{ts,tsx} src/**/*.py main.go *.test.ts README* docs/*.md x*",
	} {
		for pattern := range strings.FieldsSeq(patterns) {
			if got := MayMatch(pattern); got != want {
				t.Errorf("%s: %t", pattern, got)
			}
		}
	}
}

// A line of an ignore file brings hidden files back into searches, wherever it stands.
func TestIgnoreFilesBringSecretsBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, text string
		want       int
	}{
		{".ignore", "!.env\n", 2},
		{".rgignore", "x\n!.env", 2},
		{".gitignore", "*.log\n!.vault\n", 2},
		{"sub/.ignore", "!.e*\n", 2},
		{"sub/deep/.gitignore", "\xef\xbb\xbf!.env\n", 2},
		{"../.ignore", "!*\n", 2},
		{".gitignore", ".env\n# !x\n", 0},
		{"sub/notes", "!.env\n", 0},
	} {
		root := filepath.Join(t.TempDir(), "project")
		for name, text := range map[string]string{".env": "", ".vault/id_rsa": "", "sub/deep/a.go": "", tt.file: tt.text} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := Below(root, false); !ok || len(got) != tt.want {
			t.Errorf("%s %q: %q, %t, want %d", tt.file, tt.text, got, ok, tt.want)
		}
	}
}
