package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/backend"
)

// errNoSecret says that the keyring has no value for a reference.
var errNoSecret = errors.New("no secret is stored")

// secretKey is the name of a secret in the keyring. It follows from where the
// reference stands, so that no file takes what was entered for another one.
func secretKey(file, server, field string) string {
	sum := sha256.Sum256([]byte(file + "\x00" + server + "\x00" + field))
	return "mcp-secret:" + hex.EncodeToString(sum[:])[:32]
}

// secretsOf returns how the secrets of a definition are read.
func (s *Servers) secretsOf(d *definition) func(field string) (string, error) {
	return func(field string) (string, error) {
		value, _, err := s.cfg.Keys.Key(secretKey(d.origin.File, d.draft.Name, field))
		if err == nil && value == "" {
			err = errNoSecret
		}
		return value, err
	}
}

// sensitive are names of variables and headers whose values are secrets (LOOP-36).
var sensitive = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(api[_-]?key|secret|token|passw(or)?d|credential|authorization|cookie|private[_-]?key|[_-]key$|[_-]pat$)`)
})

// placeholders are values that a person was meant to replace.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(<.*>|your[-_ ].*|.*[-_]here|x{3,}|\.{3}|changeme|todo)$`)
})

// isSecret reports whether the value of a variable or a header is kept from pages.
func isSecret(name, value string) bool {
	return hasSecret(value) || sensitive().MatchString(name) && value != "" && !reference().MatchString(value)
}

// IsSecret reports whether a variable or a header of this name has a value that
// belongs into the keyring.
func IsSecret(name, value string) bool { return isSecret(name, value) && !hasSecret(value) }

// shown is a draft without the values of secrets, and what there is to say about
// them.
func shown(d *definition) (ServerDraft, []ServerFinding) {
	out := d.draft
	var found []ServerFinding
	hide := func(in map[string]string) map[string]string {
		kept := map[string]string{}
		for name, value := range in {
			kept[name] = value
			if !isSecret(name, value) {
				continue
			}
			kept[name] = ""
			switch {
			case placeholders().MatchString(value):
				found = append(found, finding(FindingPlaceholder, clip(name)))
			case !hasSecret(value):
				found = append(found, finding(FindingSecretInFile, clip(name)))
			}
		}
		return kept
	}
	if len(out.Env) > 0 {
		out.Env = hide(out.Env)
	}
	if len(out.Headers) > 0 {
		out.Headers = hide(out.Headers)
	}
	slices.SortFunc(found, func(a, b ServerFinding) int { return strings.Compare(a.Message, b.Message) })
	return out, found
}

// keepSecrets stores values for a server of a file.
func (s *Servers) keepSecrets(file, server string, values map[string]string) error {
	for field, value := range values {
		if err := s.cfg.Keys.SetKey(secretKey(file, server, field), value); err != nil {
			return backend.Problem(backend.ProblemServerSecret, clip(field)).Because(err)
		}
	}
	return nil
}

// dropSecrets removes the stored values that a definition names.
func (s *Servers) dropSecrets(d *definition) error {
	_, fields := d.takes(s.surroundings())
	var all error
	for _, field := range fields {
		all = errors.Join(all, s.cfg.Keys.RemoveKey(secretKey(d.origin.File, d.draft.Name, field)))
	}
	return all
}
