package redact

import (
	"regexp"
	"strings"
	"sync"
)

// announces are words after which a secret may follow on the same line.
var announces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)pass|pwd|secret|token|credential|key|auth|bearer|密码|口令|密钥|令牌`)
})

// Settled returns how much of a text that still grows may be shown, in bytes: what
// follows could make a secret of the rest. A word is held until it ends, a line that
// announces a secret until its end, and a private key until it is whole.
func (r *Redactor) Settled(text string) int {
	line := strings.LastIndexByte(text, '\n') + 1
	end := strings.LastIndexAny(text, " \t\n") + 1
	if len(r.patterns) > 0 || announces().MatchString(text[line:]) {
		end = line
	}
	for _, word := range r.policy.Words {
		for n := min(len(word)-1, len(text)); n > 0; n-- {
			if strings.HasSuffix(text, word[:n]) {
				end = min(end, len(text)-n)
				break
			}
		}
	}
	if open := strings.LastIndex(text[:end], "-----BEGIN "); open >= 0 && !strings.Contains(text[open:end], "-----END ") {
		end = open
	}
	return end
}
