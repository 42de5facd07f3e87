package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox"
	texts "atelier.dev/atelier/internal/text"
)

// SecretKind says how a secret was recognised.
type SecretKind string

// The kinds.
const (
	KindKey        SecretKind = "key"         // by the form of a service's keys
	KindPrivateKey SecretKind = "private_key" // the private half of a pair
	KindToken      SecretKind = "token"       // a bearer or signed token
	KindAddress    SecretKind = "address"     // a password in an address
	KindAssigned   SecretKind = "assigned"    // given to a name such as password
	KindRandom     SecretKind = "random"      // random characters beside such a word
	KindKnown      SecretKind = "known"       // a key that Atelier keeps, or a secret variable's value
	KindWord       SecretKind = "word"        // the user named it
	KindHome       SecretKind = "home"        // the path of the user's folder
)

// RedactPolicy is what the user decided.
type RedactPolicy struct {
	// Off takes nothing out.
	Off bool `json:"off,omitempty"`
	// Keep are the ids of findings that stay.
	Keep []string `json:"keep,omitempty"`
	// Words are further texts to take out.
	Words []string `json:"words,omitempty"`
	// Patterns are regular expressions of further texts to take out.
	Patterns []string `json:"patterns,omitempty"`
	// Home replaces the path of the user's folder by ~.
	Home bool `json:"home,omitempty"`
}

// SecretFinding is a secret that was found, with the places of its first occurrences.
type SecretFinding struct {
	// ID follows from the secret and does not reveal it.
	ID     string        `json:"id"`
	Kind   SecretKind    `json:"kind"`
	Value  string        `json:"value"`
	Masked string        `json:"masked"`
	Count  int           `json:"count"`
	Places []SecretPlace `json:"places,omitempty"`
	Kept   bool          `json:"kept,omitempty"`
}

// SecretPlace is where a secret was found: its event, and the text around it.
type SecretPlace struct {
	Seq    int64  `json:"seq"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// The limits of a list of findings.
const (
	MaxFindings = 2_000
	maxPlaces   = 3
	maxWords    = 100
	maxPattern  = 500 // bytes of one of the user's patterns
	maxValue    = 8 << 10
	around      = 60 // bytes of context on each side
	shortest    = 8  // from this length on, a value is a secret wherever it occurs
)

// Redactor finds secrets and takes them out. Texts are read twice: [Redactor.Scan]
// learns the secrets, so that [Redactor.Text] takes each of them out even where it was
// not recognised. It is not safe for concurrent use.
type Redactor struct {
	policy   RedactPolicy
	literals *literals
	patterns []*regexp.Regexp
	home     string
	keep     map[string]bool
	found    map[string]*SecretFinding
	order    []string
	more     int
}

// Check returns an error that names the pattern that is none, and why.
func (p RedactPolicy) Check() error {
	for _, pattern := range p.Patterns {
		if len(pattern) > maxPattern {
			return fmt.Errorf("the pattern %s is too long", texts.Shorten(pattern, 40))
		}
		if _, err := regexp.Compile(pattern); err != nil {
			return fmt.Errorf("read a pattern: %w", err)
		}
	}
	return nil
}

// New returns a redactor. known are secrets by their values; home is the path of the
// user's folder. It leaves out patterns that [RedactPolicy.Check] refuses.
func New(policy RedactPolicy, known []string, home string) *Redactor {
	r := &Redactor{policy: policy, literals: newLiterals(), keep: map[string]bool{}, found: map[string]*SecretFinding{}}
	for _, value := range slices.Concat(known, sandbox.OwnSecrets()) {
		if len(value) >= shortest && len(value) <= maxValue {
			r.literals.add(value, KindKnown)
		}
	}
	for _, word := range policy.Words[:min(len(policy.Words), maxWords)] {
		if word = strings.TrimSpace(word); len(word) > 1 && len(word) <= maxValue {
			r.literals.add(word, KindWord)
		}
	}
	for _, pattern := range policy.Patterns[:min(len(policy.Patterns), maxWords)] {
		if p, err := regexp.Compile(pattern); err == nil && len(pattern) <= maxPattern {
			r.patterns = append(r.patterns, p)
		}
	}
	for _, id := range policy.Keep {
		r.keep[id] = true
	}
	if policy.Home && len(home) > 1 {
		r.home = strings.TrimRight(home, "/\\")
	}
	return r
}

// ScanText learns the secrets in a text of an event. name is that of the member that has
// the text, if there is one.
func (r *Redactor) ScanText(seq int64, name, text string) {
	for _, m := range r.matches(name, text) {
		r.note(seq, text, m)
	}
}

// note adds a match to the findings.
func (r *Redactor) note(seq int64, text string, m match) {
	value := text[m.from:m.to]
	f := r.found[value]
	if f == nil {
		if len(r.found) >= MaxFindings {
			r.more++
			return
		}
		f = &SecretFinding{ID: idOf(value), Kind: m.kind, Value: texts.Head(value, maxValue), Masked: mask(value)}
		f.Kept = r.keep[f.ID]
		value = strings.Clone(value)
		r.found[value] = f
		r.order = append(r.order, value)
		if len(value) >= shortest && m.kind != KindHome {
			r.literals.add(value, m.kind)
		}
	}
	f.Count++
	if len(f.Places) < maxPlaces {
		f.Places = append(f.Places, SecretPlace{Seq: seq, Before: texts.Tail(text[:m.from], around), After: texts.Head(text[m.to:], around)})
	}
}

// Findings returns what was found, in the order of the texts, and how many more secrets
// there are. The text around a secret has no other one.
func (r *Redactor) Findings() (all []SecretFinding, more int) {
	for _, value := range r.order {
		f := *r.found[value]
		f.Places = slices.Clone(f.Places)
		for i, p := range f.Places {
			f.Places[i].Before, f.Places[i].After = r.masked(p.Before), r.masked(p.After)
		}
		all = append(all, f)
	}
	return all, r.more
}

// masked hides every secret in a text, also those that are kept.
func (r *Redactor) masked(text string) string {
	return replace(text, r.matches("", text), func(match) string { return sandbox.Redacted })
}

// Text returns a text without the secrets that the policy takes out. name is that of
// the member that has the text, if there is one.
func (r *Redactor) Text(name, text string) string {
	if r.policy.Off {
		return text
	}
	return replace(text, r.matches(name, text), func(m match) string {
		switch {
		case r.keep[idOf(text[m.from:m.to])]:
			return text[m.from:m.to]
		case m.kind == KindHome:
			return "~"
		}
		return sandbox.Redacted
	})
}

// replace returns a text with its matches replaced.
func replace(text string, all []match, by func(match) string) string {
	if len(all) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range all {
		b.WriteString(text[at:m.from])
		b.WriteString(by(m))
		at = m.to
	}
	b.WriteString(text[at:])
	return b.String()
}

func idOf(value string) string {
	sum := sha256.Sum256([]byte("finding\x00" + value))
	return hex.EncodeToString(sum[:8])
}

// mask returns a secret with little more than its length: its beginning, if it is long
// enough to keep the rest secret.
func mask(value string) string {
	shown := ""
	if len(value) >= 20 && utf8.ValidString(value[:4]) && !strings.ContainsAny(value[:4], "\n\r") {
		shown = value[:4]
	}
	return shown + strings.Repeat("•", min(utf8.RuneCountInString(value)-len(shown), 12))
}
