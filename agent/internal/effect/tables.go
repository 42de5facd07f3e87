package effect

import (
	"slices"
	"strings"
)

// The tables. An entry with several words is the beginning of a command without
// its options.
var (
	systemFolders = strings.Fields("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /snap/bin")
	streams       = strings.Fields("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/urandom /dev/random /dev/fd/0 /dev/fd/1 /dev/fd/2")

	shells       = strings.Fields("sh bash zsh dash ksh fish ash mksh csh tcsh rbash")
	interpreters = strings.Fields("python python2 python3 node nodejs ruby php lua luajit Rscript julia tclsh deno-run osascript pwsh powershell guile racket")
	scripted     = strings.Fields("ed red ex vi vim nvim view rvim emacs nano gdb lldb m4 dc expect gnuplot octave R maxima")
	downloaders  = strings.Fields("curl wget fetch aria2c http https xh lynx w3m nc ncat ftp lwp-download GET")

	// quiet only read what their operands name, and print.
	quiet = strings.Fields(`
		cat head tail less more tac rev nl wc od hexdump strings file stat du df ls dir vdir tree cut tr comm join paste fold fmt expand unexpand column
		grep egrep fgrep rg ag diff cmp sha1sum sha256sum sha512sum md5sum cksum b2sum base64 base32 jq realpath readlink zcat bzcat xzcat zgrep zless tsort nm ldd
		objdump readelf size`)

	// mute read no files, whatever their arguments.
	mute = strings.Fields(`
		seq basename dirname echo printf true false : test [ pwd type which whereis id whoami groups uname hostname arch nproc tty date cal uptime free
		lscpu lsblk ps top pgrep pidof lsof ss netstat jobs printenv sleep wait exit return break continue shift read local export unset readonly declare
		typeset shopt ulimit umask getconf locale tput clear man whatis apropos unalias hash history logout bg fg disown times let getopts mapfile
		readarray expr factor numfmt yes look pstree vmstat iostat`)

	// louder has options with which quiet programs do more.
	louder = map[string][]string{
		"rg": {"--pre", "--hostname-bin"}, "tree": {"-o"}, "date": {"-s", "--set"}, "file": {"-C", "--compile"},
		"less": {"-o", "-O", "--log-file", "--LOG-FILE"}, "man": {"-P", "-H", "--pager", "--html"}, "ag": {"--pager"}, "test": {"-v"}, "[": {"-v"}, "hash": {"-p"}, "jobs": {"-x"}, "nm": {"--plugin"}, "objdump": {"--plugin"}, "history": {"-w", "-a", "-r", "-c", "-d", "-s"},
	}

	// quietValues are options of one letter of these programs that take a value.
	quietValues = map[string]string{"tree": "LPIH", "date": "dfrI", "file": "mfFPe", "less": "bhjkpPtTxyz", "man": "CLmMSsepr", "hash": "t"}

	// writers write all that their operands name.
	writers = strings.Fields(`
		mkdir touch chmod chown chgrp truncate mkfifo mktemp gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z split csplit patch dos2unix unix2dos uniq xxd
		rename iconv convert magick ffmpeg pandoc black isort prettier clang-format shfmt rustfmt goimports gofumpt xattr setfacl ar strip objcopy`)

	// writerValues are their options of one letter that take a value.
	writerValues = map[string]string{"truncate": "sr", "touch": "dtr", "mkdir": "m", "split": "lbn", "patch": "pidorBDFgVYz", "iconv": "ft"}

	networkers = strings.Fields(`
		http https xh fetch aria2c ping ping6 dig nslookup host nc ncat socat telnet ftp sftp ssh mosh whois traceroute tracepath mtr lynx w3m yt-dlp
		gh glab aws gcloud az gsutil kubectl helm doctl flyctl fly heroku vercel netlify wrangler firebase supabase mail mutt sendmail nmap ab wrk hey k6 ngrok
		cloudflared smbclient rclone s3cmd mc ssh-copy-id ssh-keyscan openssl ollama`)

	stoppers = strings.Fields("shutdown reboot halt poweroff init telinit")

	configurers = strings.Fields(`
		at batch useradd userdel usermod groupadd groupdel adduser deluser passwd chpasswd chsh visudo iptables ip6tables nft ufw firewall-cmd sysctl
		setenforce hostnamectl timedatectl localectl modprobe insmod rmmod update-alternatives update-rc.d chkconfig defaults launchd loginctl mount umount
		swapon swapoff dpkg rpm ifconfig route ip nmcli networksetup scutil spctl csrutil xdg-mime gsettings dconf ssh-add ssh-keygen gpg keytool`)

	formatters = strings.Fields("mkfs fdisk sfdisk cfdisk parted gdisk sgdisk wipefs mkswap blkdiscard hdparm diskutil lvremove vgremove pvremove cryptsetup badblocks")

	// installers download packages, and run the scripts of some.
	installers = split(`
npm install|npm i|npm ci|npm add|npm update|npm exec|npm x|npm create|npm init|npm link|npm rebuild|npm audit|npm uninstall|npm remove
npx|pnpx|bunx|uvx|pnpm install|pnpm i|pnpm add|pnpm dlx|pnpm exec|pnpm update|pnpm create|pnpm remove|yarn install|yarn add|yarn dlx|yarn create|yarn upgrade|yarn remove
bun install|bun add|bun x|bun create|bun update|deno install|deno add|corepack|playwright install
pip install|pip3 install|pip download|pip3 download|pip uninstall|pip3 uninstall|python -m pip|python3 -m pip|python -m ensurepip|python3 -m ensurepip|pipx|pipenv install
uv add|uv sync|uv pip|uv tool|uv lock|uv python|poetry install|poetry add|poetry update|poetry lock|conda|mamba|micromamba|pdm install|pdm add
go get|go install|go mod|go work|cargo install|cargo add|cargo update|cargo fetch|rustup|gem install|gem update|bundle install|bundle update|bundle add
composer install|composer require|composer update|mix deps.get|dotnet add|dotnet restore|dotnet tool|nuget|swift package|pod install|cabal install|opam install|luarocks install|cpan|cpanm
apt|apt-get|aptitude|dnf|yum|zypper|pacman|apk|brew|port|snap|flatpak|nix|nix-env|choco|winget|scoop|asdf|mise|nvm|fnm|volta|sdk|pyenv install|rbenv install|helm install|helm upgrade`)

	// packageRunners run a program by its name, which may be installed here.
	packageRunners = strings.Fields("npx pnpx bunx")

	publishers = strings.Split("npm publish|pnpm publish|yarn publish|yarn npm publish|cargo publish|twine upload|gem push|poetry publish|uv publish|docker push|podman push|"+
		"gh pr create|gh pr merge|gh release|gh issue create|gh issue comment|gh issue close|gh issue reopen|gh issue edit|gh issue delete|gh issue lock|gh issue pin|gh issue transfer|gh issue develop|gh gist|gh pr comment|gh api|glab mr|mvn deploy|dotnet nuget push|vercel deploy|fly deploy|"+
		"aws s3 cp|aws s3 sync|gsutil cp|firebase deploy|netlify deploy|wrangler deploy|heroku|mail|sendmail|helm push|terraform apply|kubectl apply|kubectl create", "|")

	// destroyers delete what a service keeps.
	destroyers = strings.Split("kubectl delete|terraform destroy|tofu destroy|pulumi destroy|docker system prune|docker volume rm|docker volume prune|docker image prune|docker rm|docker rmi|"+
		"docker container prune|docker compose down|podman system prune|podman rm|podman volume rm|aws s3 rm|aws s3 rb|aws ec2 terminate-instances|aws rds delete-db-instance|"+
		"gh repo delete|gh release delete|gsutil rm|helm uninstall|helm delete|dropdb|dropuser|npm unpublish|cargo yank|fly apps destroy|flyctl apps destroy|heroku apps:destroy|"+
		"rails db:drop|rake db:drop|mysqladmin drop|vault delete|etcdctl del|ollama rm|virsh undefine|vagrant destroy", "|")

	// projectRunners run the project's own code, configuration or tests.
	projectRunners = split(`
make|gmake|ninja|cmake|ctest|meson|just|task|bazel|bazelisk|buck|scons|go build|go test|go run|go vet|go generate|go list|go fmt|go doc|go tool|go clean|go version|go env
cargo build|cargo test|cargo run|cargo check|cargo clippy|cargo fmt|cargo bench|cargo doc|cargo clean|cargo tree|cargo nextest|cargo metadata
npm test|npm t|npm run|npm start|npm run-script|npm ls|npm list|npm outdated|npm pack|pnpm test|pnpm run|pnpm start|pnpm build|pnpm lint|pnpm dev|pnpm check|pnpm list
yarn test|yarn run|yarn start|yarn build|yarn lint|yarn dev|bun test|bun run|bun build|deno test|deno run|deno task|deno fmt|deno lint|deno check
jest|vitest|mocha|ava|playwright test|cypress|karma|tsc|tsx|ts-node|eslint|stylelint|biome|oxlint|svelte-check|vue-tsc|webpack|vite|rollup|esbuild|parcel|next|nuxt|astro|turbo|nx|lerna|knip|storybook
python -m pytest|python3 -m pytest|python -m unittest|python3 -m unittest|python -m mypy|python3 -m mypy|python -m compileall|python3 -m compileall|python -m venv|python3 -m venv
python -m build|python3 -m build|python -m coverage|python3 -m coverage|python -m ruff|python3 -m ruff|python -m json.tool|python3 -m json.tool|python -m black|python3 -m black
pytest|py.test|tox|nox|mypy|pyright|ruff|flake8|pylint|bandit|coverage|pre-commit|uv run|poetry run|poetry build|pipenv run|hatch|pdm run|django-admin|flask|uvicorn|gunicorn
rake|rspec|rails test|rails server|rails console|bundle exec|rubocop|minitest|phpunit|artisan|composer test|composer run|mix test|mix compile|mix format|mix run|elixir|iex
mvn|mvnw|gradle|gradlew|ant|sbt|lein|clojure|scala|kotlinc|javac|java|dotnet build|dotnet test|dotnet run|dotnet format|msbuild|swift build|swift test|swift run|xcodebuild
gcc|g++|cc|c++|clang|clang++|ld|rustc|ghc|stack|cabal build|cabal test|cabal run|dune|ocamlc|zig|nim|crystal|flutter|dart|protoc|buf|sqlc|wails|hugo|jekyll|mkdocs|sphinx-build
golangci-lint|staticcheck|govulncheck|shellcheck|hadolint|yamllint|markdownlint|actionlint|terraform plan|terraform validate|terraform fmt|ansible-lint|nodemon|pm2|foreman|watchexec|entr`)

	// gitSettings run nothing, whatever their value, as patterns.
	gitSettings = strings.Fields(`
		user.name user.email core.quotepath core.autocrlf core.eol core.ignorecase core.filemode color.* advice.* init.defaultbranch commit.gpgsign tag.gpgsign
		pull.rebase pull.ff push.default merge.conflictstyle diff.renames log.date safe.directory protocol.version branch.*.* fetch.prune rebase.autostash`)

	// longValues are long options that take the next argument, of any program.
	longValues = strings.Join(strings.Fields(`
		data data-raw data-ascii data-binary data-urlencode json form form-string upload-file request method output output-dir header user user-agent proxy config url max-time connect-timeout
		post-data post-file body-data body-file output-document directory target-directory expression file retry cookie cacert rsh rsync-path message
		branch depth exclude include exec command
		dump-header cookie-jar trace trace-ascii stderr libcurl hsts alt-svc etag-save etag-compare resolve connect-to unix-socket abstract-unix-socket doh-url
		url-query variable netrc-file key cert preproxy socks5 socks5-hostname interface input-file execute use-askpass post-file
		to-command use-compress-program checkpoint-action rsh-command new-volume-script info-script one-top-level unzip-command
		template reference receive-pack upload-pack origin`), " ")
)

// wrappers run another program.
var wrappers = map[string]wrapper{
	"env":     {values: "uC", long: "unset chdir", dir: "C chdir", assigns: true, script: "S split-string"},
	"sudo":    {values: "ugpCrtTUDRh", long: "user group prompt chdir role type host", dir: "D chdir", assigns: true, user: true},
	"doas":    {values: "uC", user: true},
	"su":      {user: true, script: "c command", before: 1},
	"runuser": {values: "ugG", user: true, script: "c command"},
	"pkexec":  {long: "user", user: true},
	"gosu":    {before: 1, user: true},
	"su-exec": {before: 1, user: true},
	"chroot":  {before: 1, user: true},
	"nohup":   {}, "setsid": {}, "builtin": {}, "caffeinate": {values: "tw"}, "busybox": {}, "toybox": {}, "proxychains": {}, "dbus-run-session": {}, "tsocks": {},
	"command": {}, "exec": {values: "a"}, "time": {values: "fo", long: "format output", out: "o output"}, "nice": {values: "n", long: "adjustment"}, "ionice": {values: "cnp"}, "chrt": {before: 1},
	"timeout": {values: "ks", long: "kill-after signal", before: 1}, "gtimeout": {values: "ks", before: 1}, "stdbuf": {values: "ioe"}, "unbuffer": {},
	"taskset": {before: 1}, "strace": {values: "oepsP", out: "o output"}, "ltrace": {values: "oe", out: "o output"}, "xvfb-run": {values: "nse"}, "catchsegv": {}, "numactl": {},
	"flock":    {values: "wE", before: 1, script: "c command", locks: true},
	"watch":    {values: "n", long: "interval", joined: true},
	"xargs":    {values: "nIPLdEsaR", long: "max-args max-procs replace delimiter arg-file max-lines", adds: true},
	"parallel": {values: "jnaNPLsIdSJE", long: "jobs arg-file max-args max-procs colsep delimiter replace joblog results timeout delay retries sshlogin tmpdir wd", lines: true},
	"setarch":  {before: 1}, "linux32": {}, "linux64": {}, "i386": {}, "x86_64": {}, "prlimit": {values: "p", long: "pid"}, "choom": {values: "np"},
	"fakeroot": {values: "lisb"}, "setpriv": {}, "runcon": {values: "turl", before: 1}, "valgrind": {}, "sg": {before: 1, script: "c", user: true}, "chpst": {values: "uUbeELmdofpnct/"},
	"unshare": {}, "nsenter": {values: "t", user: true}, "firejail": {}, "systemd-run": {values: "pu", user: true},
}

// split reads a table whose entries are separated by bars and new lines.
func split(table string) []string {
	return strings.FieldsFunc(table, func(c rune) bool { return c == '|' || c == '\n' })
}

// IsShell reports whether a program takes lines of a shell as its code.
func IsShell(program string) bool {
	return slices.Contains(shells, program) || program == "eval"
}
