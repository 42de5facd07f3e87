package sandbox

import (
	"slices"
	"strings"
	"testing"
)

// moreSecrets are one for each form of a secret that secretValues has no example
// of.
var moreSecrets = []string{
	"xai-" + dozen + dozen, "r8_" + dozen + dozen, "rk_" + dozen + dozen, "sk_live_" + dozen, "pk_test_" + dozen, "rk_live_" + dozen,
	"gho_" + dozen + dozen, "ghu_" + dozen + dozen, "ghs_" + dozen + dozen, "ghr_" + dozen + dozen,
	"glsa_" + dozen + dozen, "glptt-" + dozen + dozen, "glrt-" + dozen + dozen,
	"xoxp-" + dozen, "ASIAIOSFODNN7EXAMPLE", "ya29." + dozen + dozen, "npm_" + dozen + dozen + dozen, "pypi-" + dozen + dozen + dozen + dozen,
	"dckr_pat_" + dozen + dozen, "dop_v1_" + strings.Repeat("0a", 16), "shpat_" + strings.Repeat("0a", 12), "shpss_" + strings.Repeat("0a", 12),
	"shpca_" + strings.Repeat("0a", 12), "shppa_" + strings.Repeat("0a", 12), "SG." + dozen + dozen + ".x", "hvs." + dozen + dozen,
	"ATATT3" + dozen + dozen, "lin_api_" + dozen + dozen, "https://hooks.slack.com/workflows/T0", "https://discord.com/api/webhooks/1/x",
	"https://discordapp.com/api/webhooks/1/x", "AccountKey=abc", "accountkey=abc", "SharedAccessKey=abc", "SHAREDACCESSSIGNATURE=abc", "PWD=abc",
	"PASSWORD=abc", "BEARER " + dozen + dozen,
}

const dozen = "aB3dE5gH7jK9"

// Secrets do not stand in texts that are kept: neither what looks like one nor
// the value of a variable that holds one. Everything else does.
func TestRedact(t *testing.T) {
	t.Parallel()
	for _, secret := range slices.Concat(secretValues, moreSecrets) {
		if !secretValue().MatchString(secret) {
			t.Errorf("%s is not a secret", secret)
		}
		text := "before\nit says " + secret + "\nafter "
		got := Redact(text)
		if secretValue().MatchString(got) || strings.Contains(got, dozen) || !strings.Contains(got, Redacted) {
			t.Errorf("%q became %q", text, got)
		}
		if !strings.HasPrefix(got, "before\n") {
			t.Errorf("%q became %q", text, got)
		}
	}
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC==\n-----END RSA PRIVATE KEY-----\nafter"
	for _, text := range []string{key, strings.ReplaceAll(key, "\n", `\n`)} {
		if got := Redact(text); strings.Contains(got, "MIIE") || strings.Contains(got, "IBAA") {
			t.Errorf("left %q", got)
		}
	}
	entries := slices.DeleteFunc(slices.Clone(harmless), func(entry string) bool { return entry == "PWD=/w" }) // it could be a password
	for _, text := range append(entries, "", "\n", "a\n\nb", "task-list of https://example.com/x?y=1 in Asia.\n") {
		if got := Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	own := secretsOf([]string{"MY_TOKEN=12345678", "OTHER_TOKEN=123456789", "SHORT_TOKEN=123", "HOME=/home/me-and-you"})
	if got := own.Replace("12345678, 123456789, 123 and /home/me-and-you"); got != "[redacted], [redacted], 123 and /home/me-and-you" {
		t.Errorf("left %q", got)
	}
}
