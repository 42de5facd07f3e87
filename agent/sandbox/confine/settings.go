package confine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Settings are the member "sandbox" of a settings file (OAS-641). A member that
// is not set leaves the matter to other files. A list that is not set restricts
// nothing, and an empty one allows nothing (K-33).
type Settings struct {
	Enabled *bool `json:"enabled,omitempty"`
	// AutoAllow lets commands run without asking because they are confined.
	AutoAllow *bool `json:"autoAllowBashIfSandboxed,omitempty"`
	// Unsandboxed lets the model ask for a command to run unconfined. A person
	// decides each time.
	Unsandboxed *bool `json:"allowUnsandboxedCommands,omitempty"`
	// WeakerNested accepts a weaker confinement inside a container, and Nested
	// lets commands confine their own children.
	WeakerNested *bool `json:"enableWeakerNestedSandbox,omitempty"`
	Nested       *bool `json:"allowNestedSandbox,omitempty"`
	// Read and Write list the folders that commands may read and write instead
	// of everything and of the project; Denied those that they may not touch.
	// Paths are absolute, begin with ~/ or are relative to the project.
	Read    []string `json:"allowedReadPaths,omitempty"`
	Write   []string `json:"allowedWritePaths,omitempty"`
	Denied  []string `json:"deniedPaths,omitempty"`
	Network struct {
		Allowed      []string `json:"allowedDomains,omitempty"`
		Denied       []string `json:"deniedDomains,omitempty"`
		LocalBinding *bool    `json:"allowLocalBinding,omitempty"`
		UnixSockets  *bool    `json:"allowAllUnixSockets,omitempty"`
	} `json:"network,omitzero"`
}

// Parse reads the member "sandbox". Members that it does not know are somebody
// else's.
func Parse(raw json.RawMessage) (Settings, error) {
	var s Settings
	if len(raw) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return Settings{}, fmt.Errorf("read the settings of the sandbox: %w", err)
	}
	return s, nil
}

// Layer is the settings of one file. An untrusted layer can only narrow: a
// project comes with its files, and its user has not accepted them.
type Layer struct {
	Settings
	Trusted bool
	// Broken says that the file cannot be read. Nothing is then allowed that it
	// might have forbidden.
	Broken bool
}

// Place is where commands run.
type Place struct {
	Project string   // absolute
	Home    string   // the user's
	Own     []string // the program's folders
	Visible []string // what may be read inside them
	Temp    string   // see [Profile]
	Cache   string   // where programs keep caches that only confined commands use; empty if nowhere
	// Getenv returns a variable of the user's, which may lead programs to another place
	// than the usual one in the home; nil if there are none. Secrets are the files and
	// folders that variables with the name of a secret lead to.
	Getenv  func(name string) string
	Secrets []string
}

// Request is what all layers together ask for.
type Request struct {
	Enabled     bool
	AutoAllow   bool
	Unsandboxed bool
	Weaker      bool
	// Broken says that a file cannot be read.
	Broken bool
	// Allowed and Denied are the domains of the network; none allowed means no
	// network.
	Allowed, Denied []string

	layers                 []Layer
	nested, local, sockets bool
}

// Combine returns what layers, the weakest first, ask for.
func Combine(layers ...Layer) Request {
	r := Request{Unsandboxed: true, layers: layers}
	for _, l := range layers {
		r.Enabled = r.Enabled || isSet(l.Enabled)
		l.widen(&r.AutoAllow, l.AutoAllow)
		l.widen(&r.Unsandboxed, l.Unsandboxed)
		l.widen(&r.Weaker, l.WeakerNested)
		l.widen(&r.nested, l.Nested)
		l.widen(&r.local, l.Network.LocalBinding)
		l.widen(&r.sockets, l.Network.UnixSockets)
		r.Denied = append(r.Denied, l.Network.Denied...)
		if l.Trusted {
			r.Allowed = append(r.Allowed, l.Network.Allowed...)
		}
	}
	if r.Broken = slices.ContainsFunc(layers, func(l Layer) bool { return l.Broken }); r.Broken {
		r.AutoAllow, r.Unsandboxed, r.Weaker, r.Allowed = false, false, false, nil
		r.nested, r.local, r.sockets = false, false, false
	}
	return r
}

// At returns what commands may do at a place. It looks at the files there, and
// belongs to one command.
func (r Request) At(at Place) Profile {
	var read, write, denied []string
	for _, l := range r.layers {
		read, write = at.narrow(read, l.Read, l.Trusted), at.narrow(write, l.Write, l.Trusted)
		denied = append(denied, l.Denied...)
	}
	p := at.profile(read, write, denied)
	p.Nested, p.LocalBinding, p.Weaker = r.nested, r.local, r.Weaker
	p.Sockets = SocketsOwn
	if r.sockets {
		p.Sockets = SocketsAll
	}
	return p
}

// Sentence tells a model what commands can do on a machine of a level, so that it
// does not try the rest.
func (r Request) Sentence(l Level) string {
	if !l.Works() {
		return "The settings want commands to be confined, which does not work on this machine, so no command runs."
	}
	text := "The system confines commands: they write only in the project and in $TMPDIR, cannot read keys and other secrets, cannot change " +
		"the files that tell other programs what to run, and change .git only in a line that has nothing but git commands"
	if len(r.Allowed) == 0 {
		text += ", and have no network"
	} else {
		text += ", and reach only some hosts, through the proxy in HTTPS_PROXY"
	}
	if l.By != Landlock {
		text += " (for others the user is asked: before what installs packages, and if what was refused hosts runs again)"
	}
	if l.By == Landlock {
		text += "; directly in the project's folder they create, rename and delete nothing"
	}
	if r.Unsandboxed {
		return text + "; a command that needs more can ask to run unconfined."
	}
	return text + "; none runs unconfined."
}

func isSet(b *bool) bool { return b != nil && *b }

// widen applies a layer's choice about something that is wider if it is true.
func (l Layer) widen(to *bool, choice *bool) {
	if choice != nil && (l.Trusted || !*choice) {
		*to = *choice
	}
}

// narrow adds a layer's list to those before it. A trusted layer's entries are
// added. The entries of another one count if nobody trusted has a list, and only
// inside the project.
func (at Place) narrow(before, list []string, trusted bool) []string {
	if list == nil || !trusted && before != nil {
		return before
	}
	after := slices.Clone(before)
	if after == nil {
		after = []string{}
	}
	for _, entry := range list {
		if path := at.absolute(entry); trusted || within(at.Project, path) {
			after = append(after, path)
		}
	}
	return after
}

func (at Place) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && at.Home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(at.Home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(at.Project, path)
}

// controls make other programs run code, or tell an agent what it may do, in the
// folder that they are in.
var controls = strings.Fields(`.git .agent .claude .vscode`)

// existingControls do the same and are protected where they exist. While they
// do not, their name stays free, because an empty folder in their place could
// disturb the programs that look for them.
var existingControls = strings.Fields(`.mcp.json .idea .husky .githooks .cursor .codex .gemini .zed .devcontainer .envrc .gitmodules`)

// secrets are the files and folders of a home that hold secrets.
var secrets = strings.Fields(`
	.ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .password-store .local/share/keyrings Library/Keychains
	.netrc .pgpass .my.cnf .pypirc .git-credentials .config/git/credentials .npmrc .vault-token .boto .s3cfg .terraform.d
	.cargo/credentials .cargo/credentials.toml .config/op .config/hub .mozilla .config/google-chrome .config/chromium
	.config/BraveSoftware .thunderbird .bash_history .zsh_history .python_history .psql_history .claude.json .codex/auth.json
	.claude/.credentials.json .gemini/oauth_creds.json .local/share/opencode/auth.json .config/github-copilot .Xauthority .mysql_history
	.node_repl_history .local/share/fish/fish_history .gem/credentials .composer/auth.json .config/composer/auth.json .config/rclone
	.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .subversion/auth .config/glab-cli .config/1Password .config/Bitwarden
	.config/ngrok .config/heroku .netlify .config/netlify .fly .local/share/com.vercel.cli .config/configstore .sentryclirc .dbt/profiles.yml .kaggle
	.databrickscfg .snowsql .oci .config/openstack .cloudflared .wrangler .config/.wrangler .supabase .expo .huggingface/token .config/anthropic
	.bundle/config .config/helm .pip/pip.conf .config/pip/pip.conf .yarnrc.yml .yarnrc .condarc .terraformrc .local/share/kwalletd .config/Slack
	.config/discord .config/Code .config/stripe snap/firefox .var/app .bitcoin .electrum .ethereum .config/solana .env .ansible .sqlite_history
	.config/containers/auth.json .config/sops .config/doctl .config/hcloud .pulumi/credentials.json .cache/huggingface/token
	.sops .ngrok2 .circleci .railway .lftp .local/share/atuin/key .config/Signal .config/filezilla .config/linode-cli .config/nats .config/scw
	.config/vercel .config/wrangler .config/rbw .config/tea .config/age .mc .vercel .fastly .config/fastly .config/neonctl .config/clever-cloud
`)

// systemSecrets are those of the computer that an administrator reads.
var systemSecrets = strings.Fields(`/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/wireguard /etc/NetworkManager/system-connections
	/etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key`)

// caches are the folders of a home in which programs keep what they can make or fetch
// again, the folder of the own copy, and the variable that names the first.
var caches = []struct{ path, own, variable string }{
	{".cache", "xdg", "XDG_CACHE_HOME"}, {".cache/go-build", "go-build", "GOCACHE"}, // each above those inside of it
	{"go/pkg", "go-pkg", "GOMODCACHE"}, {"go/bin", "go-bin", "GOBIN"},
	{".npm", "npm", "npm_config_cache"}, {".yarn", "yarn", "YARN_GLOBAL_FOLDER"}, {".cache/yarn", "yarn-cache", "YARN_CACHE_FOLDER"},
	{".local/share/pnpm", "pnpm", "npm_config_store_dir"}, {".bun", "bun", "BUN_INSTALL_CACHE_DIR"}, {".deno", "deno", ""}, {".cache/pip", "pip", "PIP_CACHE_DIR"},
	{".cargo/registry", "cargo-registry", ""}, {".cargo/git", "cargo-git", ""}, {".rustup", "rustup", ""},
	{".gradle", "gradle", "GRADLE_USER_HOME"}, {".m2/repository", "maven", ""}, {".nuget/packages", "nuget", "NUGET_PACKAGES"},
	{".cache/ccache", "ccache", "CCACHE_DIR"}, {".pub-cache", "pub", "PUB_CACHE"}, {".ivy2", "ivy", ""}, {".cache/composer", "composer", "COMPOSER_CACHE_DIR"},
}

// profile returns what commands may do, given the lists of all settings.
func (at Place) profile(read, write, denied []string) Profile {
	p := Profile{Writable: []string{at.Project}, Temp: at.Temp, Readable: slices.Clone(at.Visible), Hidden: append(slices.Clone(at.Own), systemSecrets...)}
	if write != nil {
		p.Writable = write
	}
	if at.Home != "" {
		for _, name := range secrets {
			p.Hidden = append(p.Hidden, filepath.Join(at.Home, filepath.FromSlash(name)))
			p.Hidden = append(p.Hidden, at.moved(name)...)
			for _, root := range roots {
				if strings.HasPrefix(root.name, name+"/") {
					p.Hidden = append(p.Hidden, at.moved(root.name)...)
				}
			}
		}
		if read != nil {
			p.Hidden = append(p.Hidden, at.Home)
			p.Readable = append(p.Readable, read...)
			p.Readable = append(p.Readable, at.Project)
		}
	}
	p.Hidden = append(p.Hidden, slices.DeleteFunc(slices.Clone(at.Secrets), func(path string) bool { return !at.isApart(path) })...)
	for _, entry := range denied {
		p.Hidden = append(p.Hidden, at.absolute(entry))
	}
	for _, root := range p.Writable {
		for _, name := range controls {
			p.Protected = append(p.Protected, filepath.Join(root, name))
		}
		for _, name := range existingControls {
			path := filepath.Join(root, name)
			if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
				p.Protected = append(p.Protected, path)
			}
		}
	}
	if at.Cache != "" {
		p.Writable = append(p.Writable, at.Cache) // for programs that a variable leads there
		for _, c := range caches {
			p.Caches = append(p.Caches, Cache{Path: at.cachePath(c.path, c.variable), Own: filepath.Join(at.Cache, c.own), Variable: c.variable})
		}
	}
	return p
}

// Kept returns where commands keep what they change at a path in the user's home, the
// likelier place first; empty if they change it itself, or cannot.
func (at Place) Kept(path string) []string {
	for _, c := range slices.Backward(caches) { // those inside of others first
		over := at.cachePath(c.path, c.variable)
		if over == "" || at.Cache == "" || !within(over, path) {
			continue
		}
		rel, _ := filepath.Rel(over, path)
		own := filepath.Join(at.Cache, c.own)
		return []string{filepath.Join(own, "changes", rel), own}
	}
	return nil
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
