package env

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// bracketed escapes the brackets of a pattern, so that names such as [id] match.
var bracketed = strings.NewReplacer("[", `\[`, "]", `\]`)

// readingsOf returns the ways to read a pattern of names below dir. Frameworks name
// folders [id] and [...slug], which as a pattern stands for one letter: brackets that begin
// with a name that exists are literal, others may be either.
func readingsOf(dir, pattern string) []string {
	if !strings.Contains(pattern, "[") || strings.Contains(pattern, `\[`) {
		return []string{pattern}
	}
	names, literal := strings.Split(pattern, "/"), false
	for i, name := range names {
		if !exists(filepath.Join(dir, filepath.FromSlash(strings.Join(names[:i+1], "/")))) {
			break
		}
		literal = literal || strings.Contains(name, "[")
	}
	plain := bracketed.Replace(pattern)
	switch {
	case literal:
		return []string{plain}
	case !doublestar.ValidatePattern(pattern):
		return []string{pattern}
	}
	return []string{pattern, plain}
}

// lookalikes writes the signs of a glob so that others which look the same match as well.
var lookalikes = strings.NewReplacer(
	"...", "{...,…}",
	" ", "{ ,\u00A0,\u2002,\u2003,\u2007,\u2009,\u200A,\u202F,\u205F,\u3000}",
	"'", "{',‘,’,‚,‛,′}",
	`"`, `{",“,”,„,‟,″}`,
	"-", "{-,‐,‑,‒,–,—,―,−}",
)

// spellings returns a glob and those that match names which look the same: in composed
// and in decomposed characters, and with other signs for spaces, quotes and dashes.
func spellings(glob string) []string {
	all := []string{glob}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		spelling := form.String(glob)
		if !strings.ContainsAny(spelling, "{[") { // where the signs are signs
			spelling = lookalikes.Replace(spelling)
		}
		if !slices.Contains(all, spelling) {
			all = append(all, spelling)
		}
	}
	return all
}

// globs returns the globs of a content search: all readings and spellings of the one that
// is asked for.
func (l *Local) globs(glob string) (all []string) {
	if glob == "" {
		return nil
	}
	rest, negated := strings.CutPrefix(glob, "!")
	for _, reading := range readingsOf(l.real, strings.TrimPrefix(rest, "/")) {
		if strings.HasPrefix(rest, "/") {
			reading = "/" + reading
		}
		for _, spelling := range spellings(reading) {
			if negated {
				spelling = "!" + spelling
			}
			all = append(all, spelling)
		}
	}
	return all
}
