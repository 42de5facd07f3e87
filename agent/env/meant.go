package env

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// meant adds to an error about a path which file may be meant: the target of a link that
// leads out of the project, and for a path that does not exist one that does.
func (l *Local) meant(err error) error {
	known := (*Error)(nil)
	if !errors.As(err, &known) {
		return err
	}
	abs, bad := l.absolute(known.Path)
	switch {
	case bad != nil:
	case escapes(known.Err):
		if target, err := filepath.EvalSymlinks(abs); err == nil {
			return &Error{Path: known.Path, Problem: "leads out of the project through a symbolic link, to " + target + "; use that path", Err: known.Err}
		}
	case errors.Is(known.Err, fs.ErrNotExist), errors.Is(known.Err, syscall.ENOTDIR):
		if other := l.other(known.Path); other != "" {
			return &Error{Path: known.Path, Problem: known.Problem + "; " + other + " does", Err: known.Err}
		}
	}
	return err
}

// other returns a path in the project that exists and that somebody may mean by one that
// does not; empty if there is none.
func (l *Local) other(path string) string {
	tried := map[string]bool{path: true}
	next := []string{path}
	for len(next) > 0 && len(tried) < maxReadings {
		var further []string
		for _, p := range next {
			for _, reading := range readings(p) {
				if reading == "" || tried[reading] || len(tried) >= maxReadings {
					continue
				}
				tried[reading] = true
				if found := l.project(reading); found != "" {
					return found
				}
				further = append(further, reading)
			}
		}
		next = further
	}
	for reading := range tried {
		if rest, ok := strings.CutPrefix(reading, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil && exists(filepath.Join(home, rest)) {
				return filepath.Join(home, rest)
			}
		}
	}
	return l.similar(path, tried)
}

// maxReadings limits the ways in which one path is read.
const maxReadings = 200

// project returns a path that exists in the project as it is shown; else an empty text.
func (l *Local) project(path string) string {
	abs, err := l.absolute(l.Spelled(path))
	if err != nil {
		return ""
	}
	rel, inside := l.within(abs)
	if !inside || rel == "." || strings.ContainsAny(rel, "\r\n") || !exists(filepath.Join(l.dir, rel)) {
		return ""
	}
	return rel
}

var (
	// place matches the line, the lines or the column behind a path.
	placeOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.+?)(?::\d+(?:[-:,]\d+)*:?|#L?\d+(?:-L?\d+)?|\(\d+(?:,\s*\d+)?\)|, lines? \d+.*| lines? \d+.*)$`)
	})
	linked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^!?\[.*\]\((.+)\)$`) })
)

// readings returns other ways to read a path, each with one difference: signs around it,
// a place behind it, a scheme or another root before it, slashes the other way.
func readings(path string) (out []string) {
	trimmed := strings.TrimSpace(path)
	out = append(out, trimmed, strings.Trim(trimmed, "`'\"<>“”‘’*"), strings.TrimLeft(trimmed, "@:#"), strings.TrimRight(trimmed, ".,;:!?)]"),
		strings.ReplaceAll(trimmed, `\ `, " "), strings.ReplaceAll(trimmed, `\`, "/"))
	if m := placeOf().FindStringSubmatch(trimmed); m != nil {
		out = append(out, m[1])
	}
	if m := linked().FindStringSubmatch(trimmed); m != nil {
		out = append(out, m[1])
	}
	if rest, ok := strings.CutPrefix(trimmed, "file://"); ok {
		out = append(out, rest, strings.TrimPrefix(rest, "localhost"))
	}
	if plain, err := url.PathUnescape(trimmed); err == nil {
		out = append(out, plain)
	}
	for _, prefix := range []string{"/", "~/", "a/", "b/", "./", "$PWD/", "${PWD}/", "${workspaceFolder}/", "%CD%/"} {
		if rest, ok := strings.CutPrefix(trimmed, prefix); ok {
			out = append(out, strings.TrimLeft(rest, "/"))
		}
	}
	if len(trimmed) > 2 && trimmed[1] == ':' { // a drive
		out = append(out, trimmed[2:])
	}
	if _, rest, ok := strings.Cut(strings.TrimPrefix(trimmed, "/"), "/"); ok { // the project's own folder, or one above
		out = append(out, rest)
	}
	return out
}

// similar returns the path in the project that differs from one that does not exist in a
// few letters of one name, or that has its name in another folder. It looks only at
// readings inside of the project.
func (l *Local) similar(path string, readings map[string]bool) string {
	shortFirst := func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }
	for _, reading := range slices.SortedFunc(maps.Keys(readings), shortFirst) {
		abs, err := l.absolute(reading)
		if err != nil {
			continue
		}
		if _, inside := l.within(abs); !inside {
			continue
		}
		dir, missing := deepest(abs)
		if _, inside := l.within(dir); !inside {
			continue
		}
		name, rest := splitFirst(missing)
		best, least := "", len(name)/4+1
		for _, other := range namesIn(dir) {
			if d := distance(strings.ToLower(name), strings.ToLower(other), least); d < least && exists(filepath.Join(dir, other, rest)) {
				best, least = filepath.Join(dir, other, rest), d
			}
		}
		if best != "" {
			return l.shown(best)
		}
	}
	return l.named(filepath.Base(filepath.FromSlash(path)))
}

// maxWalked limits the files among which one of the same name is looked for.
const maxWalked = 5000

// named returns the only file of a name in the project; an empty text if there is none,
// or more than one, or if the project is too large to look.
func (l *Local) named(name string) (found string) {
	walked := 0
	_ = fs.WalkDir(os.DirFS(l.real), ".", func(path string, d fs.DirEntry, err error) error {
		walked++
		switch {
		case err != nil:
			return nil
		case walked > maxWalked:
			found = ""
			return fs.SkipAll
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.EqualFold(d.Name(), name):
			return nil
		case found != "":
			found = ""
			return fs.SkipAll
		}
		found = filepath.FromSlash(path)
		return nil
	})
	return found
}

// distance returns in how many letters two names differ; limit if in that many or more.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal + 1
			if x[i] == y[j] {
				cost = diagonal
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(y)], limit)
}
