package sensitive

import (
	"os"
	"path/filepath"
	"testing"
)

// K-47: what is shown of a file of settings says where packages come from, and has no
// token.
func TestWithoutTokens(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, want string }{
		{".npmrc", "registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=npm_secret\n@c:registry=https://c.example\n", "registry=https://npm.corp.example/\n@c:registry=https://c.example\n"},
		{".npmrc", "//r.example/:_password=cGFzcw==\n//r.example/:username=u\n_auth=abc\nalways-auth=true\n", "//r.example/:username=u\nalways-auth=true\n"},
		{".npmrc", "//r.example/:_authToken=${NPM_TOKEN}\nsave-exact=true\n", "save-exact=true\n"},
		{".npmrc", "https-proxy=http://user:pw@proxy.corp.example:3128\nfund=false", "fund=false"},
		{"pip.conf", "[global]\nindex-url = https://user:s3cret@pip.corp.example/simple\ntimeout = 60\n", "[global]\nindex-url = https://pip.corp.example/simple\ntimeout = 60\n"},
		{"pip.conf", "[global]\nextra-index-url = https://ghp_0123456789abcdef0123456789@pip.corp.example/simple\n", "[global]\nextra-index-url = https://pip.corp.example/simple\n"},
		{".yarnrc.yml", "npmRegistryServer: \"https://y.example\"\nnpmAuthToken: \"secret\"\nnodeLinker: node-modules\n", "npmRegistryServer: \"https://y.example\"\nnodeLinker: node-modules\n"},
		{"settings.xml", "<server>\n<id>corp</id>\n<password>secret</password>\n</server>\n<mirror><url>https://m.example</url></mirror>\n", "<server>\n<id>corp</id>\n</server>\n<mirror><url>https://m.example</url></mirror>\n"},
		{"gradle.properties", "org.gradle.jvmargs=-Xmx2g\nsigning.password=secret\nmavenToken=abc\n", "org.gradle.jvmargs=-Xmx2g\n"},
		{".npmrc", "", ""},
	} {
		path := filepath.Join(t.TempDir(), row.name)
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, has, err := WithoutTokens(path)
		if string(got) != row.want || has != (row.text != row.want) || err != nil || !HasLines(path) {
			t.Errorf("%s %q: %q, %v, %v", row.name, row.text, got, has, err)
		}
	}
	if _, _, err := WithoutTokens(filepath.Join(t.TempDir(), ".npmrc")); !os.IsNotExist(err) {
		t.Error(err)
	}
	if _, _, err := WithoutTokens(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}
