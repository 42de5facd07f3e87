package command

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// spelling says how a program spells its options. In the table the names of one option are
// joined by commas. ":" is behind one that takes a value, "?" behind one whose value follows
// directly, "!" behind one whose value is the name of another option, and "=a+b" says that it
// is these together. An entry of one sign and "~" is an operand's. *whole, *bare and *ends
// are the members below.
type spelling struct {
	first  map[string]string   // the first name of an option, by each of its names
	means  map[string][]string // what an option is, if it is not only itself
	values map[string]bool     // they take the next argument
	tails  map[string]bool     // they may have a value, which follows directly
	names  map[string]bool     // their value is the name of another option
	signs  map[string]string   // what an operand with this sign in front of it is as well
	whole  bool                // -name is one option, and no letters
	bare   bool                // the first argument may be letters without "-"
	ends   bool                // after the first operand there are no options
}

// spelled are the options of all programs and commands, read.
var spelled = sync.OnceValue(func() map[string]*spelling {
	all := map[string]*spelling{}
	note := func(name, text string) {
		if text != "" {
			all[name] = readSpelling(text)
		}
	}
	for name, p := range programs {
		note(name, p.options)
		for command, text := range p.commandOptions {
			note(name+" "+command, text)
		}
	}
	for command, row := range gitTable {
		note("git "+command, row.options)
	}
	return all
})

func readSpelling(text string) *spelling {
	s := &spelling{first: map[string]string{}, means: map[string][]string{}, values: map[string]bool{}, tails: map[string]bool{}, names: map[string]bool{}, signs: map[string]string{}}
	for entry := range strings.FieldsSeq(text) {
		if sign, name, ok := strings.Cut(entry, "~"); ok {
			s.signs[sign] = name
			continue
		}
		if mark, ok := strings.CutPrefix(entry, "*"); ok {
			s.whole, s.bare, s.ends = s.whole || mark == "whole", s.bare || mark == "bare", s.ends || mark == "ends"
			continue
		}
		entry, meaning, _ := strings.Cut(entry, "=")
		names := strings.Split(strings.NewReplacer(":", "", "?", "", "!", "").Replace(entry), ",")
		has := func(mark string) bool { return strings.Contains(entry, mark) }
		for _, name := range names {
			s.first[name] = names[0]
		}
		if meaning != "" {
			s.means[names[0]] = strings.Split(meaning, "+")
		}
		s.values[names[0]], s.tails[names[0]], s.names[names[0]] = has(":") || has("!"), has("?"), has("!")
	}
	return s
}

// over returns the options of a command over those of its program.
func (s *spelling) over(program spelling) spelling {
	both := *s
	both.first = maps.Clone(s.first)
	both.values, both.tails = maps.Clone(s.values), maps.Clone(s.tails)
	for name, first := range program.first {
		if _, ok := both.first[name]; ok {
			continue
		}
		if _, ok := s.values[first]; !ok {
			both.first[name] = first
			both.values[first], both.tails[first] = program.values[first], program.tails[first]
		}
	}
	return both
}

// flags returns the options that an argument is, and whether the next argument is
// the value of the last one.
func (s *spelling) flags(arg string) (all []option, takes bool) {
	if strings.HasPrefix(arg, "--") || s.whole {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		full := s.full(name)
		for _, first := range full {
			all = append(all, s.meaning(option{first, value, len(full) > 1 || value == "false"})...)
		}
		return all, !given && s.values[full[0]]
	}
	letters := arg[1:]
	for i := range len(letters) {
		name := letters[i : i+1]
		if first, ok := s.first[name]; ok {
			name = first
		}
		rest := letters[i+1:]
		takesAll := !s.bare && (s.values[name] || s.tails[name])
		if !takesAll {
			all = append(all, s.meaning(option{name: name})...)
			takes = takes || s.values[name]
			continue
		}
		return append(all, s.meaning(option{name: name, value: rest})...), rest == "" && s.values[name]
	}
	return all, takes
}

// full returns the first names of the long options that a name may be short for.
func (s *spelling) full(name string) []string {
	if first, ok := s.first[name]; ok {
		return []string{first}
	}
	var all []string
	for long, first := range s.first {
		if len(long) > 1 && name != "" && strings.HasPrefix(long, name) {
			all = append(all, first)
		}
	}
	if len(all) == 0 || s.whole {
		return []string{name}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// meaning returns an option as what it means.
func (s *spelling) meaning(f option) []option {
	names, ok := s.means[f.name]
	if !ok {
		return []option{f}
	}
	var all []option
	for _, name := range names {
		all = append(all, option{name, f.value, f.doubtful})
	}
	return all
}
