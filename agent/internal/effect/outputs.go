package effect

import (
	"slices"
	"strings"
)

// outputs are the options of programs whose value is a file or a folder that they
// write, wherever they stand.
var outputs = map[string][]string{
	"7z": {"-o"}, "7za": {"-o"}, "aria2c": {"-d", "--dir", "-o", "--out", "-l", "--log"}, "gpg": {"-o", "--output", "--output-dir"},
	"git": {"--output", "--output-directory"}, "git archive": {"-o"}, "git format-patch": {"-o"}, "iconv": {"-o", "--output"}, "mktemp": {"-p", "--tmpdir"}, "patch": {"-d", "--directory", "-o", "--output", "-r", "--reject-file"},
	"openssl":    {"-out", "-keyout", "-writerand", "-CAserial", "-outdir"},
	"rsync":      {"--log-file", "--write-batch", "--only-write-batch", "--backup-dir", "--partial-dir", "--temp-dir", "-T"},
	"ssh-keygen": {"-f"}, "tar": {"--file"}, "yt-dlp": {"-o", "--output", "-P", "--paths"},
}

// inputs are those whose value is a file that they read.
var inputs = map[string][]string{
	"git blame": {"--contents", "-S", "--ignore-revs-file"}, "git grep": {"-f"}, "git notes": {"-F", "--file"}, "git tag": {"-F", "--file"},
	"gmake": {"-f", "--file", "--makefile"}, "make": {"-f", "--file", "--makefile"},
	"openssl": {"-in", "-inkey", "-key", "-CA", "-CAkey", "-CAfile", "-cert", "-certfile", "-config", "-rand", "-sign", "-verify"},
}

// inlines are the options, or the commands, that are followed by a program.
var inlines = map[string][]string{
	"bun": {"-e", "-p", "--eval", "--print"}, "deno": {"eval"}, "elixir": {"-e", "--eval"}, "erl": {"-eval"}, "ghc": {"-e"}, "groovy": {"-e"},
	"scala": {"-e"}, "swift": {"-e"}, "ts-node": {"-e", "-p", "--eval", "--print"}, "tsx": {"-e", "-p", "--eval", "--print"},
}

// optionFiles notes the files that the options of a program name.
func (w *walker) optionFiles(program string, args []value, s *scope) {
	for i := range args {
		next := args[i+1 : min(i+2, len(args))]
		if v, ok := optionValue(outputs[program], args[i], next); ok {
			w.writes(v, s)
		}
		if v, ok := optionValue(inputs[program], args[i], next); ok {
			w.reads(v, s)
		}
	}
}

// optionValue returns the value of an argument that is one of some options: what
// stands behind it, or the next argument. Long ones may be shortened.
func optionValue(options []string, arg value, next []value) (value, bool) {
	name, given, hasValue := strings.Cut(arg.text(), "=")
	for _, option := range options {
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

// isInline reports whether the arguments of a program have one in them.
func isInline(program string, args []value) bool {
	return slices.ContainsFunc(args, func(v value) bool { return slices.Contains(inlines[program], v.text()) })
}
