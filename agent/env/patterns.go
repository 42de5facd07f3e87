package env

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// literally escapes the signs of a pattern that names have as well, such as [id] and {slug}.
var literally = strings.NewReplacer("[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// bracketed escapes brackets alone: what braces list is no common name.
var bracketed = strings.NewReplacer("[", `\[`, "]", `\]`)

// readingsOf returns the ways to read a pattern of names below dir. Frameworks name
// folders [id], [...slug] and {slug}, which as a pattern stand for something else: signs
// that begin with a name that exists are literal, brackets elsewhere may be either.
func readingsOf(dir, pattern string) []string {
	if !strings.ContainsAny(pattern, "[{") || strings.Contains(pattern, `\[`) || strings.Contains(pattern, `\{`) {
		return []string{pattern}
	}
	names, there := strings.Split(pattern, "/"), -1
	for i, name := range names {
		if !exists(filepath.Join(dir, filepath.FromSlash(strings.Join(names[:i+1], "/")))) {
			break
		}
		if strings.ContainsAny(name, "[{") {
			there = i
		}
	}
	if there >= 0 {
		begin, rest := strings.Join(names[:there+1], "/"), strings.Join(names[there+1:], "/")
		pattern = literally.Replace(begin)
		if rest != "" {
			pattern += "/" + bracketed.Replace(rest)
		}
		return []string{pattern}
	}
	plain := bracketed.Replace(pattern)
	if plain == pattern || !doublestar.ValidatePattern(pattern) {
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
