package command

import (
	"slices"
	"strings"
)

// operands returns the arguments that are not options. values are options of one
// letter that take the next argument. An option that is repeated has each of its
// values.
func operands(args []value, values string) (rest []value, options map[string]value) {
	options = map[string]value{}
	note := func(name string, v value) {
		if v.text() == "" && v.exact() && options[name] != nil {
			return
		}
		if old := options[name]; old.text() != "" || len(old) > 1 {
			v = either(old, v)
		}
		options[name] = v
	}
	for i := 0; i < len(args); i++ {
		text := args[i].text()
		switch {
		case text == "--":
			return append(rest, args[i+1:]...), options
		case !args[i].isOption():
			rest = append(rest, args[i])
		case strings.HasPrefix(text, "--"):
			name, v, given := strings.Cut(text[2:], "=")
			name, takes := unabbreviated(name)
			if takes && !given && i+1 < len(args) {
				i++
				note(name, args[i])
				continue
			}
			note(name, value{{text: v, exact: args[i].exact(), fetched: args[i].fetched()}})
		default:
			for at, letter := range text[1:] {
				if !strings.ContainsRune(values, letter) {
					note(string(letter), literal(""))
					continue
				}
				if behind := text[1:][at+1:]; behind != "" {
					note(string(letter), value{{text: behind, exact: args[i].exact(), fetched: args[i].fetched()}})
				} else if i+1 < len(args) {
					i++
					note(string(letter), args[i])
				} else {
					note(string(letter), literal(""))
				}
				break
			}
		}
	}
	return rest, options
}

// unabbreviated returns the name of a long option that takes the next argument,
// which may be shortened, and whether it is one.
func unabbreviated(name string) (full string, takes bool) {
	all := strings.Fields(longValues)
	if slices.Contains(all, name) {
		return name, true
	}
	if len(name) >= 3 && name != "head" {
		for _, full := range all {
			if strings.HasPrefix(full, name) {
				return full, true
			}
		}
	}
	return name, false
}

// has reports whether one of the options is given, by its name or the beginning
// of a long one.
func has(options map[string]value, names ...string) bool {
	for _, name := range names {
		if _, ok := options[name]; ok {
			return true
		}
		for given := range options {
			if len(given) >= 2 && strings.HasPrefix(name, given) {
				return true
			}
		}
	}
	return false
}
