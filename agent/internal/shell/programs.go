package shell

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
)

// programs are the accepted programs. Some useful ones are left out on purpose:
// less, man and tar run programs that variables or their arguments name; env
// prints every variable, of which some are secrets; npm and go list keep notes
// in the user's folders, and may fetch; yarn, pnpm, cargo and rustc run a version that a project's
// files choose.
var programs = map[string]program{
	"ls": {
		flags: "1AaBbCcdFfGghHikLlmNnopqQRrSstUuvXxZ", here: true,
		long: "all almost-all author escape directory classify? color? file-type format= full-time group-directories-first " +
			"human-readable inode literal no-group numeric-uid-gid quote-name recursive reverse size si sort= time= time-style= hide= ignore=",
	},
	"cat": {
		flags: "AbEenstTuv", prints: true,
		long: "number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank",
	},
	"head": {flags: "qvz", values: "cn", long: "bytes= lines= quiet silent verbose", prints: true, count: true},
	"tail": {flags: "qv", values: "cn", long: "bytes= lines= quiet silent verbose", prints: true, count: true},
	"nl": {
		flags: "p", values: "bdfhilnsvw", prints: true,
		long: "body-numbering= number-format= number-separator= number-width= starting-line-number= line-increment=",
	},
	"wc":   {flags: "clLmw", long: "bytes chars lines max-line-length words"},
	"file": {flags: "bhikLNr", long: "brief dereference keep-going mime mime-encoding mime-type no-dereference"},
	"stat": {flags: "fLt", values: "c", long: "dereference file-system format= printf= terse"},
	"du": {
		flags: "abchHkmSsx0", values: "d", here: true,
		long: "all apparent-size bytes exclude= human-readable max-depth= null one-file-system separate-dirs si summarize time? total",
	},
	"df":   {flags: "aHhiklmPT", long: "all human-readable inodes local portability print-type si total"},
	"tree": {flags: "aACcdDfFghiJNnpQqrstuUvX", values: "ILP", long: "dirsfirst du filelimit= gitignore noreport prune", here: true},
	"sort": {
		flags: "bcCdfghiMnRrsuVz", values: "kt",
		long: "check? dictionary-order field-separator= general-numeric-sort human-numeric-sort ignore-case " +
			"ignore-leading-blanks key= month-sort numeric-sort random-sort reverse sort= stable unique version-sort zero-terminated",
	},
	"uniq": {flags: "cdiuz", values: "fsw", long: "check-chars= count ignore-case repeated skip-chars= skip-fields= unique", most: 1},
	"cut":  {flags: "nsz", values: "bcdf", long: "bytes= characters= complement delimiter= fields= only-delimited output-delimiter="},
	"tr":   {flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: texts},
	"comm": {flags: "123iz", long: "check-order nocheck-order output-delimiter= total"},
	"diff": {
		flags: "abBcdeEinpqstTuwyZ", values: "CILUW", count: true, check: comparesWhole,
		long: "brief color? context? ignore-all-space ignore-blank-lines ignore-case ignore-space-change ignore-trailing-space " +
			"label= minimal new-file side-by-side strip-trailing-cr suppress-common-lines text unified? width=",
	},
	"cmp":   {flags: "bls", values: "in", long: "bytes= ignore-initial= print-bytes silent quiet verbose"},
	"grep":  grep,
	"egrep": grep,
	"fgrep": grep,
	"rg": {
		flags: "acFhHiIlNnopqSsUvVwx0.P", values: "ABCdeEgjMmrTt", operands: pattern, here: true, count: true, check: searchesTree,
		long: "after-context= before-context= byte-offset case-sensitive color= colors= column context= context-separator= count count-matches " +
			"crlf files files-with-matches files-without-match fixed-strings glob= glob-case-insensitive heading hidden iglob= ignore-case " +
			"include-zero invert-match json line-number line-regexp max-columns= max-columns-preview max-count= max-depth= max-filesize= " +
			"multiline multiline-dotall no-column no-config no-filename no-heading no-ignore no-ignore-vcs no-line-number no-messages null " +
			"only-matching passthru pcre2 pretty quiet regexp= replace= smart-case sort= sortr= stats text threads= trim type= type-list " +
			"type-not= vimgrep with-filename word-regexp",
	},
	"sed": {flags: "nErsuz", values: "e", long: "expression= quiet silent regexp-extended separate", operands: pattern, check: printsLines},
	"awk": awk, "gawk": awk, "mawk": awk, "nawk": awk,
	"jq": {
		flags: "rcnsSMCaje", operands: pattern, check: queries,
		long: "raw-output compact-output null-input slurp sort-keys monochrome-output color-output ascii-output join-output exit-status tab indent=",
	},
	"gofmt": {flags: "ldes", check: formats},
	"fd":    fd, "fdfind": fd,
	"od": {flags: "abcdfhilosvx", values: "AjNtw", long: "address-radix= format= read-bytes= skip-bytes= width?"},

	"tac":      {flags: "br", long: "before regex"},
	"rev":      {},
	"column":   {flags: "tx", values: "csN", long: "table separator="},
	"paste":    {flags: "sz", values: "d", long: "serial delimiters= zero-terminated"},
	"fold":     {flags: "bs", values: "w", long: "bytes spaces width="},
	"join":     {flags: "iz", values: "12aevjot", long: "ignore-case header check-order nocheck-order"},
	"fmt":      {flags: "cstu", values: "w"},
	"expand":   {flags: "i", values: "t"},
	"unexpand": {flags: "a", values: "t"},
	"xxd":      {flags: "abeipu", values: "cgl", most: 1},
	"hexdump":  {flags: "bCcdovx", values: "ns"},
	"strings":  {flags: "af", values: "n"},
	"base64":   {flags: "d", values: "w", long: "decode wrap="},

	"sha512sum": {flags: "bt", long: "binary text tag"},
	"sha384sum": {flags: "bt", long: "binary text tag"},
	"sha224sum": {flags: "bt", long: "binary text tag"},
	"b2sum":     {flags: "bt", long: "binary text tag"},
	"cksum":     {},
	"sha256sum": {flags: "bt", long: "binary text tag"},
	"sha1sum":   {flags: "bt", long: "binary text tag"},
	"md5sum":    {flags: "bt", long: "binary text tag"},

	"which":    {flags: "as", operands: texts},
	"basename": {flags: "az", values: "s", long: "multiple suffix= zero", operands: texts},
	"dirname":  {flags: "z", long: "zero", operands: texts},
	"realpath": {flags: "eLmPqsz", long: "canonicalize-existing canonicalize-missing logical no-symlinks physical quiet strip"},
	"readlink": {flags: "efmnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline"},
	"date":     {flags: "uR", values: "d", long: "date= iso-8601? rfc-3339= rfc-email universal utc", operands: texts, check: showsTime},
	"seq":      {flags: "w", values: "fs", long: "equal-width format= separator=", operands: texts, count: true},
	"uname":    {flags: "aimnoprsv", long: "all kernel-name kernel-release machine nodename operating-system processor", operands: none},
	"whoami":   {operands: none},
	"nproc":    {operands: none},
	"hostname": {flags: "s", operands: none},
	"uptime":   {flags: "ps", operands: none},
	"sleep":    {operands: texts},
	"expr":     {operands: texts},
	"free":     {flags: "bkmghtw", operands: none},
	"lscpu":    {operands: none},
	"groups":   {operands: none},
	"whereis":  {flags: "bms", operands: texts},
	"ss":       {flags: "46aHlnptux", operands: none},
	"pgrep":    {flags: "acflnox", values: "u", operands: texts},
	"printenv": {operands: texts, check: tellsNames},
	"arch":     {operands: none},
	"id":       {flags: "gGnru", long: "group groups name real user", operands: none},

	"pwd":     {flags: "LP", operands: none, builtin: true},
	"echo":    {operands: texts, builtin: true, verbatim: true},
	"printf":  {operands: texts, builtin: true, check: printsTexts},
	"type":    {flags: "aftpP", operands: texts, builtin: true},
	"command": {flags: "vV", operands: texts, builtin: true, check: (*call).looksUp},
	"true":    {operands: texts, builtin: true, verbatim: true},
	"false":   {operands: texts, builtin: true, verbatim: true},
}

var grep = program{
	flags: "abcEFGhHiIlLnoPqrsvwxy", values: "ABCDdem", operands: pattern, count: true, check: searchesRecursively,
	long: "after-context= before-context= basic-regexp binary-files= byte-offset color? colour? context? count exclude= exclude-dir= " +
		"extended-regexp files-with-matches files-without-match fixed-strings ignore-case include= initial-tab invert-match line-number " +
		"line-regexp max-count= no-filename no-ignore-case no-messages null only-matching perl-regexp quiet recursive regexp= silent text " +
		"with-filename word-regexp",
}

// searchesRecursively makes trees of the paths of a recursive grep, which
// begins in the current folder by default.
func searchesRecursively(c *call, read *command) bool {
	for _, o := range c.options {
		if (o.name == "d" || o.name == "directories") && o.value == "recurse" {
			return false // written in a way that nobody uses
		}
	}
	if !c.has("r", "recursive") {
		return true
	}
	if len(read.paths) == 0 {
		read.paths = []string{"."}
	}
	read.hidden = true
	return searchesTree(c, read)
}

// searchesTree makes trees of the paths. Names that a pattern will match may be
// folders too.
func searchesTree(c *call, read *command) bool {
	read.trees = read.paths
	read.hidden = read.hidden || c.has("hidden", ".", "no-ignore", "no-ignore-vcs") ||
		slices.ContainsFunc(c.options, func(o option) bool {
			isGlob := slices.Contains([]string{"g", "glob", "iglob"}, o.name)
			return isGlob && !strings.HasPrefix(o.value, "!") && sensitive.MayMatch(o.value) || (o.name == "t" || o.name == "type") && slices.Contains(hiddenTypes, o.value)
		})
	return !slices.ContainsFunc(read.patterns, func(p string) bool { return !strings.HasPrefix(p, "-") })
}

// hiddenTypes are ripgrep's types with names of hidden files in them that may hold
// secrets: a type, like a glob, brings hidden files back.
var hiddenTypes = strings.Fields("all sh zsh bash fish config dotenv")

// comparesWhole makes trees of the paths that diff compares: for two folders it
// reads all their files.
func comparesWhole(c *call, read *command) bool {
	read.hidden = true
	return searchesTree(c, read)
}

// formats accepts gofmt for named files and folders. It reads the Go files of
// folders, also through links; old versions run diff.
func formats(c *call, read *command) bool {
	for _, path := range read.paths {
		read.handed = append(read.handed, Handed{Tree: path, Name: "*.go"})
	}
	read.also = append(read.also, "diff")
	return len(read.patterns) == 0
}

func showsTime(c *call, _ *command) bool {
	for _, w := range c.operands {
		if w.pattern != "" || !strings.HasPrefix(w.text, "+") { // anything else sets the clock
			return false
		}
	}
	return true
}

func (c *call) looksUp(*command) bool { return c.has("v", "V") }

var (
	// sedScript matches scripts that only print lines and stop, sedLines those
	// that select the lines by number.
	sedScript = lazily(`^(?:` + sedAddress + `(?:,(?:` + sedAddress + `|\+[0-9]+))?[ \t]*[pq=][ \t]*(?:;[ \t]*|$))+$`)
	sedLines  = lazily(`^[0-9$,+pq; \t]+$`)
)

const sedAddress = `(?:[0-9]+|\$|/[^/\\\n\[]+/)`

// printsLines accepts calls of sed that print selected or changed lines.
func printsLines(c *call, read *command) bool {
	var scripts []string
	for _, o := range c.options {
		if o.name == "e" || o.name == "expression" {
			scripts = append(scripts, o.value)
		}
	}
	if len(scripts) == 0 {
		scripts = []string{c.operands[0].text}
	}
	read.prints = c.has("n", "quiet", "silent")
	for _, script := range scripts {
		read.prints = read.prints && sedScript().MatchString(script) && sedLines().MatchString(script)
	}
	return !SedDoesMore(scripts)
}

// jqReads matches programs of jq that read files, or the variables of the
// environment.
var jqReads = lazily(`\b(import|include|modulemeta|env|ENV|get_search_list)\b`)

func queries(c *call, read *command) bool {
	return c.has("version", "help") || len(c.operands) > 0 && !jqReads().MatchString(c.operands[0].text)
}

// conversions matches the parts of a format of printf that print something.
var conversions = lazily(`%(?:%|[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:[hljzt]*[diouxXeEfFgGaAcsbqQ]|\([^()]*\)T))`)

// PrintfAssigns reports whether a format of printf may change variables, which %n
// does: with PATH, what runs next is another program.
func PrintfAssigns(format string) bool {
	return strings.Contains(conversions().ReplaceAllLiteralString(format, ""), "%")
}

func printsTexts(c *call, _ *command) bool {
	return len(c.operands) > 0 && c.operands[0].pattern == "" && !PrintfAssigns(c.operands[0].text)
}

// tellsNames accepts questions for variables that are not secret.
func tellsNames(c *call, _ *command) bool {
	return len(c.operands) > 0 && !slices.ContainsFunc(c.operands, func(w word) bool { return w.pattern != "" || !slices.Contains(toldNames, w.text) })
}
