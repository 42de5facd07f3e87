package redact

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox"
)

// match is a secret in a text.
type match struct {
	from, to int
	kind     SecretKind
}

// matches returns the secrets in a text, in order and apart from each other. Certain
// matches come before guesses.
func (r *Redactor) matches(name, text string) []match {
	if encoded(text) {
		return nil // a picture, or a file that nobody reads
	}
	all := r.literals.find(nil, text)
	for _, p := range r.patterns {
		for _, m := range p.FindAllStringIndex(text, -1) {
			all = append(all, match{m[0], m[1], KindWord})
		}
	}
	if r.home != "" {
		all = slices.DeleteFunc(literally(all, text, r.home, KindHome), func(m match) bool {
			next, _ := utf8.DecodeRuneInString(text[m.to:])
			return m.kind == KindHome && (unicode.IsLetter(next) || unicode.IsDigit(next)) // another folder
		})
	}
	for _, p := range sandbox.Secrets(text) {
		if m, ok := narrow(text, p[0], p[1]); ok {
			all = append(all, m)
		}
	}
	if name != "" && sandbox.NamesSecret(name) && plausible(name, text, true) {
		all = append(all, match{0, len(text), KindAssigned})
	}
	all = assigned(all, text)
	all = besideWords(all, text)
	return apart(all)
}

// apart removes matches that overlap an earlier one of the list, and orders the rest.
func apart(all []match) []match {
	if len(all) < 2 {
		return all
	}
	byStart := make([]int, len(all))
	for i := range byStart {
		byStart[i] = i
	}
	slices.SortStableFunc(byStart, func(a, b int) int {
		if d := all[a].from - all[b].from; d != 0 {
			return d
		}
		return a - b
	})
	var out []match
	var rank []int
	for _, i := range byStart {
		m := all[i]
		if m.from >= m.to {
			continue
		}
		if n := len(out); n > 0 && m.from < out[n-1].to {
			// The more certain one stays, and reaches as far as either.
			end := max(m.to, out[n-1].to)
			if i < rank[n-1] && m.from == out[n-1].from {
				out[n-1], rank[n-1] = m, i
			}
			out[n-1].to = end
			continue
		}
		out, rank = append(out, m), append(rank, i)
	}
	return out
}

// literally adds the places of a value.
func literally(all []match, text, value string, kind SecretKind) []match {
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return all
		}
		all = append(all, match{at + i, at + i + len(value), kind})
		at += i + len(value)
	}
}

// narrow returns the secret part of what has the form of one: the password of an
// address, the value of an assignment, the whole of a token.
func narrow(text string, from, to int) (match, bool) {
	found := text[from:to]
	lower := strings.ToLower(found)
	switch {
	case found == `"private_key"`:
		return match{}, false // its value is found by itself
	case strings.HasPrefix(found, "-----BEGIN"):
		return match{from, trimmed(text, from, to), KindPrivateKey}, true
	case strings.HasPrefix(found, "://"):
		from += 3 + strings.Index(found[3:], ":") + 1
		return match{from, to - 1, KindAddress}, !placeholder(text[from : to-1])
	case strings.HasPrefix(lower, "bearer "):
		return match{from + len("bearer "), to, KindToken}, true
	case strings.HasPrefix(found, "eyJ"):
		return match{from, reach(text, to), KindToken}, true
	case strings.Contains(lower, "hooks.slack") || strings.Contains(lower, "webhooks/"):
		return match{to, reach(text, to), KindAddress}, reach(text, to) > to
	case strings.HasPrefix(found, "SG."):
		return match{from, reach(text, to), KindKey}, true
	}
	if i := strings.IndexByte(found, '='); i >= 0 && !strings.HasPrefix(lower, "whsec") {
		from += i + 1
		to = from + len(strings.TrimRight(text[from:to], `"'})],\`))
		return match{from, to, KindAssigned}, plausible("password", text[from:to], false)
	}
	return match{from, to, KindKey}, true
}

// trimmed returns the end of a private key, without the space and prose after it.
func trimmed(text string, from, to int) int {
	const end = "PRIVATE KEY-----"
	if i := strings.LastIndex(text[from:to], end); i > len(end) {
		return from + i + len(end)
	}
	return from + len(strings.TrimRight(text[from:to], " \t\r\n"))
}

// reach returns the end of a token, which may lie beyond the match.
func reach(text string, to int) int {
	for to < len(text) && (text[to] >= '0' && text[to] <= '9' || text[to]|0x20 >= 'a' && text[to]|0x20 <= 'z' || strings.IndexByte("_-+/=.", text[to]) >= 0) {
		to++
	}
	for text[to-1] == '.' {
		to--
	}
	return to
}

// assignment is a name, a sign and a value: of a shell, a program, JSON or YAML. Like
// beside it is compiled when it is first needed, because its long repetitions would
// delay every start.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_.-]{1,63})["']?[ \t]*(?:=|:=|:|=>)[ \t]*(?:"([^"\n]{4,512})"|'([^'\n]{4,512})'|([^\s"',;(){}<>\[\]]{6,512}))`)
})

// assigned adds the values that are given to names of secrets.
func assigned(all []match, text string) []match {
	if !strings.ContainsAny(text, "=:") {
		return all
	}
	for _, m := range assignment().FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[i+1:]
		}
		for group := 4; group <= 8; group += 2 {
			from, to := m[group], m[group+1]
			if from < 0 || !sandbox.NamesSecret(name) {
				continue
			}
			if plausible(name, text[from:to], group < 8) {
				all = append(all, match{from, to, KindAssigned})
			}
		}
	}
	return all
}

// plausible reports whether a value looks like a secret rather than like code, a number
// or an example.
func plausible(name, value string, quoted bool) bool {
	if placeholder(value) || len(value) > maxValue || strings.ContainsAny(value, "(){}<>\n") {
		return false
	}
	letters, digits, other := classes(value)
	switch {
	case letters == 0 && other == 0:
		return password(name) && digits >= 6
	case strings.ContainsAny(value, " \t"):
		return password(name) && quoted && len(value) <= 64 && digits > 0
	case digits > 0 && letters > 0:
		return len(value) >= 8 && entropy(value) >= 2.5 || password(name) && len(value) >= 6
	case password(name):
		return len(value) >= 6 && (quoted || other > 0 || strings.ToUpper(name) == name)
	}
	return len(value) >= 20 && entropy(value) >= 3.5
}

// password reports whether a name means a password, which people choose.
func password(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "pass") || strings.Contains(name, "pwd") || strings.Contains(name, "secret")
}

// examples are what people and manuals write in place of a secret.
var examples = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(\$|%|\{\{|process\.|os\.|env\.|import\.meta|config\.|settings\.|self\.|this\.|req\.|null$|nil$|none$|true$|false$|undefined$|string$|required$|` +
		`your|my-|example|changeme|change-me|placeholder|dummy|redacted|\[redacted|secret$|password$|token$|x{3,}|\*{3,}|\.{3,}|•+)`)
})

func placeholder(value string) bool {
	return value == "" || examples().MatchString(value) || strings.HasSuffix(value, "...") || strings.HasSuffix(value, "…")
}

func classes(s string) (letters, digits, other int) {
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r|0x20 >= 'a' && r|0x20 <= 'z':
			letters++
		default:
			other++
		}
	}
	return letters, digits, other
}

// beside is a word that announces a secret, then a few words, then random characters.
var beside = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:token|secret|password|passwd|credential|api[ _-]?key|access[ _-]?key)s?\b[^\n]{0,24}?[ \t:="'` + "`" + `]([A-Za-z0-9+/_=-]{24,256})`)
})

func besideWords(all []match, text string) []match {
	for _, m := range beside().FindAllStringSubmatchIndex(text, -1) {
		value := text[m[2]:m[3]]
		letters, digits, _ := classes(value)
		if digits >= 2 && letters >= 6 && entropy(value) >= 3.4 && !strings.Contains(value, "//") && strings.Count(value, "/") < 3 && strings.Count(value, "-") < 5 {
			all = append(all, match{m[2], m[3], KindRandom})
		}
	}
	return all
}

// entropy is that of the bytes of a text, in bits for each.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// encoded reports whether a text is data in base64, such as a picture: long, and
// without a space.
func encoded(text string) bool {
	if len(text) < 2048 {
		return false
	}
	return strings.IndexFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || r == '+' || r == '/' || r == '=' || r == '-' || r == '_')
	}) < 0
}
