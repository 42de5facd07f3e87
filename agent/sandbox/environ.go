package sandbox

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Inherit selects the variables that a child gets from its parent (LOOP-36).
type Inherit string

// The ways to inherit. The empty one drops variables that look like a secret.
const (
	InheritSafe Inherit = ""
	InheritAll  Inherit = "all"
	// InheritCore passes only the variables that programs need to run. It is
	// meant for programs that a project names, such as hooks (K-35).
	InheritCore Inherit = "core"
	InheritNone Inherit = "none"
	// InheritPerson passes everything and adds no settings, for a person's own shell.
	InheritPerson Inherit = "person"
)

// Filter derives a child's environment from this program's (K-16, K-35).
type Filter struct {
	Inherit Inherit
	// Allow names variables that always pass.
	Allow []string
}

// fixed is set for every child: a child must neither wait for a person nor draw
// for a terminal. Programs that ask for a password through a helper are given
// one that fails.
var fixed = []string{
	"PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "NO_COLOR=1", "TERM=dumb",
	"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "EDITOR=false", "VISUAL=false", "SUDO_EDITOR=false",
	"KUBE_EDITOR=false", "HGEDITOR=false", "SVN_EDITOR=false", "GH_EDITOR=false", "BROWSER=false", "GH_BROWSER=false", "GCM_INTERACTIVE=never",
	"GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "SUDO_ASKPASS=false",
	"DEBIAN_FRONTEND=noninteractive", "PIP_NO_INPUT=1",
}

// Apply returns a child's environment, given the parent's environ: the
// variables that pass the filter, then the fixed settings of every child but a person's.
func (f Filter) Apply(environ []string) []string {
	out := make([]string, 0, len(environ)+len(fixed)+1)
	utf8Locale := false
	for _, entry := range withoutOwn(environ) {
		name, value, _ := strings.Cut(entry, "=")
		if !f.passes(name, value) {
			continue
		}
		if login := loginPath.Load(); name == "PATH" && login != nil {
			entry = "PATH=" + *login
		}
		out = append(out, entry)
		utf8Locale = utf8Locale || name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE"
	}
	if !utf8Locale {
		out = append(out, "LANG=C.UTF-8")
	}
	if f.Inherit == InheritPerson {
		return out
	}
	return append(out, fixed...)
}

func (f Filter) passes(name, value string) bool {
	switch {
	case slices.Contains(f.Allow, name):
		return true
	case f.Inherit == InheritAll, f.Inherit == InheritPerson:
		return true
	case f.Inherit == InheritNone:
		return false
	case core[strings.ToUpper(name)] || strings.HasPrefix(name, "LC_"):
		return true
	case f.Inherit == InheritCore:
		return false
	}
	return !isSecret(name, value)
}

// userGDK reports whether the user chose a GDK back end. Package initialisation
// runs before the window sets one for itself.
var _, userGDK = os.LookupEnv("GDK_BACKEND")

// withoutOwn removes variables that the window set for its own process.
func withoutOwn(environ []string) []string {
	if userGDK {
		return environ
	}
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, "GDK_BACKEND=")
	})
}

// core variables always pass, except with InheritNone.
var core = setOf(`PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TMPDIR TMP TEMP TZ PWD
	GOPATH GOROOT GOCACHE GOMODCACHE GOBIN GOTOOLCHAIN CARGO_HOME RUSTUP_HOME
	NVM_DIR NVM_BIN NODE_PATH PNPM_HOME BUN_INSTALL DENO_DIR VOLTA_HOME FNM_DIR
	JAVA_HOME SDKMAN_DIR GRADLE_USER_HOME MAVEN_HOME M2_HOME ANDROID_HOME KOTLIN_HOME
	PYTHONPATH PYTHONHOME VIRTUAL_ENV PYENV_ROOT CONDA_PREFIX UV_CACHE_DIR
	GEM_HOME GEM_PATH RBENV_ROOT BUNDLE_PATH PERL5LIB COMPOSER_HOME DOTNET_ROOT
	LD_LIBRARY_PATH DYLD_LIBRARY_PATH PKG_CONFIG_PATH ASDF_DIR MISE_DATA_DIR
	XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERNAME USERPROFILE HOMEDRIVE HOMEPATH
	APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES`)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(names) {
		set[name] = true
	}
	return set
}

// isSecret reports whether a variable holds a secret, judged by its name or the
// form of its value. It remembers what it found, because every child gets the
// same variables and the patterns take long.
func isSecret(name, value string) bool {
	entry := name + "=" + value
	judged.Lock()
	defer judged.Unlock()
	secret, known := judged.entries[entry]
	if known {
		return secret
	}
	secret = secretName(words(name)) || suspicious(value) && secretValue().MatchString(value)
	if judged.entries == nil || len(judged.entries) == mostJudged {
		judged.entries = map[string]bool{}
	}
	judged.entries[entry] = secret
	return secret
}

// judged has the variables that isSecret judged. It starts again when it has
// mostJudged of them.
var judged struct {
	sync.Mutex
	entries map[string]bool
}

const mostJudged = 1024

// words splits a name into its words, in capitals: AUTH and TOKEN for authToken
// and for AUTH_TOKEN2.
func words(name string) []string {
	var apart strings.Builder
	for i := range len(name) {
		if i > 0 && isCapital(name[i]) && isSmall(name[i-1]) {
			apart.WriteByte('_')
		}
		apart.WriteByte(name[i])
	}
	split := strings.FieldsFunc(strings.ToUpper(apart.String()), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for i, word := range split {
		split[i] = strings.TrimRight(word, "0123456789")
	}
	return split
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// Only whole words count, so that GIT_AUTHOR_NAME, KEYBOARD_LAYOUT and
// TOKENIZERS_PARALLELISM pass.
var (
	secretWord = setOf(`SECRET SECRETS TOKEN TOKENS KEY KEYS PAT AUTH COOKIE COOKIES DSN PASS JWT CRED CREDS BEARER
		HEADERS AUTHORIZATION WEBHOOK WEBHOOKS HMAC MNEMONIC`)
	// secretLast are secrets as the last of several words in a name.
	secretLast = setOf(`PWD PW SK PIN OTP TOTP SALT PEPPER SAS CONNSTR`)
	// secretParts may be anywhere in a name, secretEnds at the end of a word, and
	// secretKeys there before KEY. notSecret lists harmless words with the same ending.
	secretParts = strings.Fields(`PASSWORD PASSWD PASSPHRASE PASSCODE CREDENTIAL SECRET CONNECTIONSTRING`)
	secretEnds  = strings.Fields(`TOKEN PASS PWD`)
	secretKeys  = strings.Fields(`API ACCESS ACCOUNT APP AUTH CLIENT CRYPT DEPLOY ENCRYPTION GPG HOST LICENSE MASTER PRIVATE SERVICE
		SHARED SIGNING SSH STORAGE`)
	notSecret = setOf(`BYPASS COMPASS OVERPASS SURPASS TRESPASS UNDERPASS OLDPWD PWD`)
	// secretWhole are whole names.
	secretWhole = setOf(`KUBECONFIG NETRC PGPASSFILE PGSERVICEFILE BOTO_CONFIG`)
	// servers are those whose address may contain a password.
	servers = setOf(`DATABASE DB REDIS MONGO MONGODB AMQP RABBITMQ POSTGRES POSTGRESQL MYSQL`)
)

func secretName(words []string) bool {
	last := len(words) - 1
	for i, word := range words {
		switch {
		case secretWord[word], i > 0 && i == last && secretLast[word]:
			return true
		case secretEnding(word) && !notSecret[word]:
			return true
		}
	}
	joined := strings.Join(words, "")
	if slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(joined, part) }) {
		return true
	}
	if last > 0 && (words[0] == "AWS" || servers[words[last-1]] && (words[last] == "URL" || words[last] == "URI")) {
		return true
	}
	return secretWhole[strings.Join(words, "_")]
}

// secretEnding reports whether a word ends like the name of a secret.
func secretEnding(word string) bool {
	if kind, ok := strings.CutSuffix(word, "KEY"); ok {
		return slices.ContainsFunc(secretKeys, func(k string) bool { return strings.HasSuffix(kind, k) })
	}
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(word, end) })
}

// secretValue matches values that are secrets by their form alone. It is slow; ask
// [suspicious] first.
var secretValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.Join([]string{
		`-----BEGIN [A-Z ]*PRIVATE KEY`, `"private_key"`,
		`://[^/\s:@]*:[^/\s@]+@`,
		`\b(sk|gsk|xai|r8|rk)[-_][A-Za-z0-9_-]{16,}`, `\b(sk|rk|pk)_(live|test)_[A-Za-z0-9]{10,}`, `\bwhsec_[A-Za-z0-9+/=]{16,}`,
		`\bgh[pousr]_[A-Za-z0-9]{20,}`, `\bgithub_pat_[A-Za-z0-9_]{20,}`, `\bgl(pat|sa|ptt|rt)[-_][A-Za-z0-9_-]{16,}`,
		`\bxox[abeprs]-[A-Za-z0-9-]{10,}`, `\bA(KI|SI)A[0-9A-Z]{16}\b`, `\bAIza[0-9A-Za-z_-]{30,}`, `\bya29\.[0-9A-Za-z_-]{20,}`,
		`\bnpm_[A-Za-z0-9]{30,}`, `\bhf_[A-Za-z0-9]{20,}`, `\bpypi-[A-Za-z0-9_-]{40,}`, `\bdckr_pat_[A-Za-z0-9_-]{20,}`,
		`\bdop_v1_[a-f0-9]{32,}`, `\bshp(at|ss|ca|pa)_[a-fA-F0-9]{24,}`, `\bSG\.[A-Za-z0-9_-]{16,}\.`, `\bhvs\.[A-Za-z0-9_-]{20,}`,
		`\bATATT3[A-Za-z0-9_=-]{20,}`, `\blin_api_[A-Za-z0-9]{20,}`,
		`hooks\.slack\.com/(services|workflows)/`, `discord(app)?\.com/api/webhooks/`,
		`(?i)\b(AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd)=[^;\s]+`, `(?i)\bbearer [A-Za-z0-9._~+/-]{16,}`,
		`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.`,
	}, "|"))
})
