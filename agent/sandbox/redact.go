package sandbox

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Redacted takes the place of a secret.
const Redacted = "[redacted]"

// privateKey matches a private key as a whole; its lines may be joined by \n.
var privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\:,.-]*`)

// shortestSecret is the length from which the value of a secret variable is
// recognised in a text. Shorter ones occur by chance.
const shortestSecret = 8

// ownSecrets replaces the values of this program's secret variables, including
// those that [Conceal] removed. Programs call Conceal before anything else.
var ownSecrets = sync.OnceValue(func() *strings.Replacer {
	var values []string
	for _, entry := range Environ() {
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
})

// Redact replaces secrets in a text that is kept or shown: the values of this
// program's secret variables, and what is a secret by its form. It cannot know
// every secret.
func Redact(text string) string {
	if text == "" {
		return ""
	}
	text = ownSecrets().Replace(text)
	text = privateKey.ReplaceAllString(text, Redacted)
	return secretValue.ReplaceAllString(text, Redacted)
}
