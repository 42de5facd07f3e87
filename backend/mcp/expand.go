package mcp

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// reference is a variable in a definition: ${NAME}, ${NAME:-default}, ${env:NAME},
// ${input:id}, or ${secret}, whose value is in the keyring under the place where it
// stands.
var reference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(env:|input:)?([A-Za-z_][A-Za-z0-9_.-]*)(:-([^}]*))?\}`)
})

const (
	secretName      = "secret"
	secretReference = "${" + secretName + "}"
)

// surroundings are what variables of definitions stand for.
type surroundings struct {
	getenv       func(string) string
	folder, user string
	// secret returns a stored value. Nil leaves references as they are.
	secret func(field string) (string, error)
}

// own returns the value of a name that is not an environment variable.
func (s surroundings) own(name string) (string, bool) {
	switch name {
	case "workspaceFolder", "CLAUDE_PROJECT_DIR", "AGENT_PROJECT_DIR":
		return s.folder, true
	case "workspaceFolderBasename":
		return filepath.Base(s.folder), true
	case "userHome":
		return s.user, s.user != ""
	case "pathSeparator":
		return string(filepath.Separator), true
	}
	return "", false
}

// expand fills the variables of a text. It returns those that have no value.
func (s surroundings) expand(text, field string) (out string, unset []string, err error) {
	out = reference().ReplaceAllStringFunc(text, func(m string) string {
		parts := reference().FindStringSubmatch(m)
		kind, name, deflt, fallback := parts[1], parts[2], parts[3] != "", parts[4]
		switch {
		case m == secretReference && s.secret == nil:
			return m
		case m == secretReference:
			value, failed := s.secret(field)
			if failed != nil {
				err = failed
			}
			return value
		case kind == "input:":
			unset = append(unset, "input:"+name)
			return m
		case kind == "":
			if value, ok := s.own(name); ok {
				return value
			}
		}
		if value := s.getenv(name); value != "" {
			return value
		}
		if !deflt {
			unset = append(unset, name)
			return m
		}
		return fallback
	})
	return out, unset, err
}

// texts calls do with each text of a definition that may have variables, and with
// the field that it is.
func (d *definition) texts(do func(field, text string)) {
	do("command", d.draft.Command)
	for _, arg := range d.draft.Args {
		do("args", arg)
	}
	do("cwd", d.draft.Dir)
	do("url", d.draft.URL)
	for name, value := range d.draft.Env {
		do("env."+name, value)
	}
	for name, value := range d.draft.Headers {
		do("headers."+name, value)
	}
	if o := d.draft.OAuth; o != nil {
		do("oauth.clientId", o.ClientID)
		do("oauth.clientSecret", d.clientSecret)
	}
}

// takes lists the variables of the environment that a definition takes, and the
// fields whose secrets it takes.
func (d *definition) takes(s surroundings) (variables, secrets []string) {
	d.texts(func(field, text string) {
		for _, m := range reference().FindAllStringSubmatch(text, -1) {
			_, own := s.own(m[2])
			switch {
			case m[0] == secretReference:
				secrets = append(secrets, field)
			case m[1] != "input:" && (!own || m[1] == "env:"):
				variables = append(variables, m[2])
			}
		}
	})
	slices.Sort(variables)
	slices.Sort(secrets)
	return slices.Compact(variables), slices.Compact(secrets)
}

// hasSecret reports whether a text takes a stored secret.
func hasSecret(text string) bool { return strings.Contains(text, secretReference) }
