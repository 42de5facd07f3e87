package sandbox

import (
	"cmp"
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
		text = privateKey().ReplaceAllString(text, Redacted)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if suspicious(line) {
			line = secretValue().ReplaceAllString(line, Redacted)
		}
		b.WriteString(line)
	}
	return b.String()
}

// privateKey matches a private key as a whole; its lines may be joined by \n.
var privateKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,.-]*`)
})

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
	values := secretsIn(environ)
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, Redacted)
	}
	return strings.NewReplacer(pairs...)
}

// secretsIn returns the values of secret variables, the longest first.
func secretsIn(environ []string) (values []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= shortestSecret && isSecret(name, value) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // one may contain another
	return values
}

// Secrets returns the places of what is a secret by its form: each a beginning and an
// end in bytes, in order and apart from each other. It finds private keys as a whole.
func Secrets(text string) (places [][2]int) {
	add := func(found [][]int, from int) {
		for _, f := range found {
			places = append(places, [2]int{from + f[0], from + f[1]})
		}
	}
	if strings.Contains(text, "PRIVATE KEY-----") {
		add(privateKey().FindAllStringIndex(text, -1), 0)
	}
	at := 0
	for line := range strings.Lines(text) {
		if suspicious(line) {
			add(secretValue().FindAllStringIndex(line, -1), at)
		}
		at += len(line)
	}
	slices.SortFunc(places, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
	end := 0
	return slices.DeleteFunc(places, func(p [2]int) bool {
		if p[0] < end {
			return true
		}
		end = p[1]
		return false
	})
}

// NamesSecret reports whether a variable or a setting with the name usually holds a
// secret.
func NamesSecret(name string) bool { return secretName(words(name)) }

// OwnSecrets returns the values of this program's secret variables that are long
// enough to be recognised in a text.
func OwnSecrets() []string { return secretsIn(Environ()) }
