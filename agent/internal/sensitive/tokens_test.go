package sensitive

import (
	"os"
	"path/filepath"
	"testing"
)

// A file of settings counts as a secret if it holds a token, and only then.
func TestHasToken(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789abcdefghij"
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{".git/config", "[remote \"origin\"]\n\turl = https://ada:" + token + "@github.com/a/b.git\n", true},
		{".git/config", "[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic eDp5\n", true},
		{".git/config", "[url \"https://" + token + "@github.com/\"]\n\tinsteadOf = https://github.com/\n", true},
		{".git/config", "[sendemail]\n\tsmtpPass = hunter2\n", true},
		{".git/config", "[user]\n\tname = Ada\n[core]\n\taskpass = /usr/bin/ask\n[remote \"origin\"]\n\turl = https://github.com/a/b\n\turl = git@github.com:a/b\n", false},
		{".git/worktrees/w/config.worktree", "[http]\n\tcookie = x\n\tproxy = http://u:p@proxy:80\n", true},
		{".git/modules/lib/config", "url = https://u:" + token + "@example.com/lib\n", true},
		{".git/FETCH_HEAD", "0123 branch 'main' of https://u:" + token + "@example.com/lib\n", true},
		{".git/COMMIT_EDITMSG", "Refresh the token: earlier than before\n", false},
		{".gitmodules", "[submodule \"x\"]\n\turl = https://oauth2:" + token + "@gitlab.com/x\n", true},
		{"web/.npmrc", "//registry.npmjs.org/:_authToken=npm_abc\n", true},
		{"web/.npmrc", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nalways-auth=true\nsave-exact=true\n", false},
		{".yarnrc.yml", "npmAuthToken: \"abc-def\"\n", true},
		{"pip.conf", "[global]\nindex-url = https://u:pw@pypi.example.com/simple\n", true},
		{"pip.conf", "[global]\nindex-url = https://pypi.example.com/simple\n", false},
		{".cargo/credentials.toml", "[registry]\ntoken = \"cio123\"\n", true},
		{".m2/settings.xml", "<server><username>ada</username><password>pw1</password></server>", true},
		{"NuGet.Config", `<add key="ClearTextPassword" value="pw1" />`, true},
		{"gradle.properties", "org.gradle.jvmargs=-Xmx2g\nsigningPassword=abc\n", true},
		{"gradle.properties", "org.gradle.jvmargs=-Xmx2g\n# password=abc\n", false},
		{"auth.json", `{"github-oauth": {"github.com": "x"}, "http-basic": {"a.b": {"username": "u", "password": "pw"}}}`, true},
		{".curlrc", "user = \"ada:pw\"\n", true},
		{"main.go", "password := \"pw1\"\nurl = https://u:p@example.com\n", false},
		{"config", "token = abc\n", false},
	} {
		path := filepath.Join(t.TempDir(), tt.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := HasToken(path); got != tt.want {
			t.Errorf("%s with %q: %t", tt.name, tt.text, got)
		}
	}
	if HasToken(filepath.Join(t.TempDir(), ".npmrc")) {
		t.Error("a file that is not there has a token")
	}
}
