package lsp

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Language is one language, or a group of them that one server knows.
type Language struct {
	Name string // for people and models
	// IDs are the protocol's names of its files, by extension.
	IDs map[string]string
	// Markers are files that stand in the root of a project.
	Markers []string
	// Servers are tried in their order: the first that is on PATH is used.
	Servers []Command
	// Definition is a pattern of a line that defines NAME.
	Definition string
}

// Command starts a server.
type Command struct {
	Program string
	Args    []string
	Env     []string
	// Options are the initializationOptions of the handshake, and Settings what the
	// server is told of its configuration; nil means none.
	Options, Settings json.RawMessage
}

// name stands for what a definition defines.
const name = "NAME"

var (
	stdio = []string{"--stdio"}
	node  = []string{"NODE_OPTIONS=--max-old-space-size=2048"}
)

// Languages are the languages that are known.
var Languages = []Language{
	{
		Name: "Go", IDs: ids("go", ".go"), Markers: []string{"go.work", "go.mod"},
		Servers:    []Command{{Program: "gopls", Args: []string{"serve"}, Env: []string{"GOMEMLIMIT=2GiB"}}},
		Definition: `^\s*(func(\s*\([^)]*\))?|type|var|const)\s+NAME\b|^\s+NAME(\s*,\s*\w+)*\s+[\w\[\]*.]+|^\s+NAME\s*=`,
	}, {
		Name: "TypeScript and JavaScript", Markers: []string{"tsconfig.json", "jsconfig.json", "package.json"},
		IDs: map[string]string{
			".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
			".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
		},
		Servers: []Command{{Program: "typescript-language-server", Args: stdio, Env: node}, {Program: "vtsls", Args: stdio, Env: node}},
		Definition: `\b(function\s*\*?|class|interface|type|enum|const|let|var|namespace|module)\s+NAME\b` +
			`|^\s*((public|private|protected|static|readonly|async|get|set|override|abstract)\s+)*NAME\s*(<[^>]*>)?\([^)]*\)\s*(:[^{]+)?\{`,
	}, {
		Name: "Python", IDs: ids("python", ".py", ".pyi"), Markers: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"},
		Servers: []Command{
			{Program: "pyright-langserver", Args: stdio, Env: node}, {Program: "basedpyright-langserver", Args: stdio, Env: node}, {Program: "pylsp"}, {Program: "jedi-language-server"},
		},
		Definition: `^\s*(async\s+)?(def|class)\s+NAME\b|^\s*NAME\s*(:[^=]+)?=[^=]`,
	}, {
		Name: "Rust", IDs: ids("rust", ".rs"), Markers: []string{"Cargo.toml"}, Servers: []Command{{Program: "rust-analyzer"}},
		Definition: `\b(fn|struct|enum|trait|type|const|static|mod|union)\s+(mut\s+)?NAME\b|\bmacro_rules!\s*NAME\b|\blet\s+(mut\s+)?NAME\b`,
	}, {
		Name: "C and C++", Markers: []string{"compile_commands.json", "compile_flags.txt", "CMakeLists.txt", "meson.build"},
		IDs: map[string]string{
			".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp",
		},
		Servers:    []Command{{Program: "clangd", Args: []string{"--background-index=false"}}, {Program: "ccls"}},
		Definition: `\b(struct|class|enum|union|namespace)\s+NAME\b|#\s*define\s+NAME\b|\btypedef\b.*\bNAME\s*;|^[\w:*&<>,~\s]*[\w*&>]\s+\*?(\w+::)*NAME\s*\([^;]*$|\busing\s+NAME\s*=`,
	}, {
		Name: "Java", IDs: ids("java", ".java"), Markers: []string{"pom.xml", "build.gradle", "build.gradle.kts"}, Servers: []Command{{Program: "jdtls"}},
		Definition: `\b(class|interface|enum|record|@interface)\s+NAME\b|^\s*((public|private|protected|static|final|abstract|synchronized|native|default)\s+)*[\w<>\[\],.?\s]+\s+NAME\s*(\(|=|;)`,
	}, {
		Name: "Kotlin", IDs: ids("kotlin", ".kt", ".kts"), Markers: []string{"build.gradle.kts", "build.gradle"}, Servers: []Command{{Program: "kotlin-language-server"}},
		Definition: `\b(fun(\s+<[^>]*>)?|class|interface|object|typealias|val|var)\s+([\w<>?]+\.)?NAME\b`,
	}, {
		Name: "C#", IDs: ids("csharp", ".cs"), Markers: []string{"*.sln", "*.csproj"}, Servers: []Command{{Program: "csharp-ls"}, {Program: "OmniSharp", Args: []string{"-lsp"}}},
		Definition: `\b(class|interface|struct|enum|record|delegate|namespace)\s+NAME\b|^\s*((public|private|protected|internal|static|virtual|override|async|readonly|sealed|abstract|partial)\s+)+[\w<>\[\],.?\s]+\s+NAME\s*(\(|=|;|\{)`,
	}, {
		Name: "Swift", IDs: ids("swift", ".swift"), Markers: []string{"Package.swift"}, Servers: []Command{{Program: "sourcekit-lsp"}},
		Definition: `\b(func|class|struct|enum|protocol|actor|extension|typealias|let|var|case)\s+NAME\b`,
	}, {
		Name: "Ruby", IDs: ids("ruby", ".rb", ".rake"), Markers: []string{"Gemfile"}, Servers: []Command{{Program: "ruby-lsp"}, {Program: "solargraph", Args: []string{"stdio"}}},
		Definition: `^\s*(def\s+(self\.)?|class\s+|module\s+)(\w+::)*NAME\b|^\s*NAME\s*=[^=]|\battr_(reader|writer|accessor)\b.*:NAME\b`,
	}, {
		Name: "PHP", IDs: ids("php", ".php"), Markers: []string{"composer.json"}, Servers: []Command{{Program: "intelephense", Args: stdio, Env: node}, {Program: "phpactor", Args: []string{"language-server"}}},
		Definition: `\b(function|class|interface|trait|enum|const)\s+&?NAME\b|\$NAME\s*=[^=]`,
	}, {
		Name: "Zig", IDs: ids("zig", ".zig"), Markers: []string{"build.zig"}, Servers: []Command{{Program: "zls"}},
		Definition: `\b(fn|const|var)\s+NAME\b`,
	}, {
		Name: "Lua", IDs: ids("lua", ".lua"), Markers: []string{".luarc.json"}, Servers: []Command{{Program: "lua-language-server"}},
		Definition: `\bfunction\s+([\w.]+[.:])?NAME\b|\blocal\s+NAME\b|^\s*NAME\s*=\s*function\b`,
	}, {
		Name: "shell", IDs: ids("shellscript", ".sh", ".bash"), Servers: []Command{{Program: "bash-language-server", Args: []string{"start"}, Env: node}},
		Definition: `^\s*(function\s+)?NAME\s*\(\s*\)|^\s*function\s+NAME\b|^\s*(export\s+|readonly\s+|local\s+)?NAME=`,
	}, {
		Name: "Svelte", IDs: ids("svelte", ".svelte"), Markers: []string{"svelte.config.js", "package.json"}, Servers: []Command{{Program: "svelteserver", Args: stdio, Env: node}},
		Definition: `\b(function|class|const|let|interface|type)\s+NAME\b`,
	}, {
		Name: "Vue", IDs: ids("vue", ".vue"), Markers: []string{"package.json"}, Servers: []Command{{Program: "vue-language-server", Args: stdio, Env: node}},
		Definition: `\b(function|class|const|let|interface|type)\s+NAME\b`,
	},
}

func ids(id string, extensions ...string) map[string]string {
	out := map[string]string{}
	for _, extension := range extensions {
		out[extension] = id
	}
	return out
}

// LanguageOf returns the language of a file; false if it is none that is known.
func LanguageOf(path string, languages []Language) (Language, bool) {
	extension := strings.ToLower(filepath.Ext(path))
	i := slices.IndexFunc(languages, func(l Language) bool { return l.IDs[extension] != "" })
	if extension == "" || i < 0 {
		return Language{}, false
	}
	return languages[i], true
}

// glob matches the files of a language.
func (l Language) glob() string {
	var extensions []string
	for extension := range l.IDs {
		extensions = append(extensions, strings.TrimPrefix(extension, "."))
	}
	slices.Sort(extensions)
	if len(extensions) == 1 {
		return "*." + extensions[0]
	}
	return "*.{" + strings.Join(extensions, ",") + "}"
}

// defines returns a pattern of the lines that define a symbol, or any if it is empty.
func (l Language) defines(symbol string) string {
	if symbol == "" {
		symbol = `\w+`
	} else {
		symbol = regexp.QuoteMeta(symbol)
	}
	return strings.ReplaceAll(l.Definition, name, symbol)
}
