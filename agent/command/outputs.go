package command

import (
	"slices"
	"strings"
)

// optionFiles notes the files that the options of a program name.
func (w *walker) optionFiles(files fileOptions, args []value, s *scope) {
	for i := range args {
		next := args[i+1 : min(i+2, len(args))]
		if v, ok := optionValue(files.writes, args[i], next); ok {
			w.writes(v, s)
		}
		if v, ok := optionValue(files.reads, args[i], next); ok {
			w.reads(v, s)
		}
	}
}

// optionValue returns the value of an argument that is one of some options: what
// stands behind it, or the next argument. Long ones may be shortened.
func optionValue(options string, arg value, next []value) (value, bool) {
	name, given, hasValue := strings.Cut(arg.text(), "=")
	for option := range strings.FieldsSeq(options) {
		isLong := len(option) > 2
		switch {
		case isLong && hasValue && (name == option || len(name) > 4 && strings.HasPrefix(option, name)):
			return value{{text: given, exact: arg.exact(), fetched: arg.fetched()}}, true
		case isLong && !hasValue && len(name) > 4 && strings.HasPrefix(option, name) && name != option:
			return slices.Concat(next...), len(next) > 0
		case isLong && arg.text() != option, !strings.HasPrefix(arg.text(), option):
		case arg.text() == option:
			return slices.Concat(next...), len(next) > 0
		default:
			return value{{text: arg.text()[len(option):], exact: arg.exact(), fetched: arg.fetched()}}, true
		}
	}
	return nil, false
}

// isInline reports whether arguments have a program in them, behind one of some options.
func isInline(options string, args []value) bool {
	return options != "" && slices.ContainsFunc(args, func(v value) bool { return slices.Contains(strings.Fields(options), v.text()) })
}
