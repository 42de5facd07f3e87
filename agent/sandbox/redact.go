package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted takes the place of a secret.
const Redacted = "[redacted]"

// Redact replaces secrets in a text that is kept or shown: the values of this
// program's secret variables, and what is a secret by its form. It cannot know
// every secret.
func Redact(text string) string {
	if text == "" {
		return ""
	}
	text = ownSecrets().Replace(text)
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = privateKey.ReplaceAllString(text, Redacted)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if suspicious(line) {
			line = secretValue.ReplaceAllString(line, Redacted)
		}
		b.WriteString(line)
	}
	return b.String()
}

// privateKey matches a private key as a whole; its lines may be joined by \n.
var privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,.-]*`)

// suspicious reports whether a line may have something that secretValue matches.
// It is much faster.
func suspicious(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(suspects, func(s string) bool { return strings.Contains(line, s) })
}

// suspects are in every match of secretValue, in lower case.
var suspects = []string{
	"-----begin", "private_key", "://", "sk-", "sk_", "xai-", "xai_", "r8-", "r8_", "rk-", "rk_", "pk_", "whsec_",
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat", "glsa", "glptt", "glrt", "xox", "akia", "asia", "aiza", "ya29.",
	"npm_", "hf_", "pypi-", "dckr_pat_", "dop_v1_", "shpat_", "shpss_", "shpca_", "shppa_", "sg.", "hvs.", "atatt3", "lin_api_",
	"hooks.slack", "webhooks/", "accountkey=", "sharedaccess", "password=", "pwd=", "bearer ", "eyj",
}

// shortestSecret is the length from which the value of a secret variable is
// recognised in a text. Shorter ones occur by chance.
const shortestSecret = 8

// ownSecrets replaces the values of this program's secret variables, including
// those that [Conceal] removed, which programs call before anything else.
var ownSecrets = sync.OnceValue(func() *strings.Replacer { return secretsOf(Environ()) })

func secretsOf(environ []string) *strings.Replacer {
	var values []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= shortestSecret && isSecret(name, value) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may contain another
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, Redacted)
	}
	return strings.NewReplacer(pairs...)
}
