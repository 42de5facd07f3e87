// Package sensitive recognises files by their names: those that other programs
// run, and those that hold secrets. Only [HasToken] and [HasAddress] look at contents,
// and only [Below] at folders.
package sensitive

import (
	"path"
	"path/filepath"
	"strings"
)

// Controls reports whether a path is, or is in a folder of, files that another
// program runs or that tell it what to run: a shell, an editor, version
// control, a build server, another agent.
func Controls(name string) bool { return matches(controls, name) }

// Secret reports whether a path is, or is in a folder of, files that usually
// hold secrets.
func Secret(name string) bool { return matches(secrets, name) }

// SecretPatterns returns the names of secret files, as path elements in the
// syntax of [path.Match] and in lower case, which may be anywhere in a path.
func SecretPatterns() []string { return secrets }

// matches reports whether the elements of a pattern follow each other anywhere
// in a path. It ignores case, because on some systems .GIT is .git.
func matches(patterns []string, name string) bool {
	elements := strings.Split(strings.ToLower(filepath.ToSlash(name)), "/")
	for _, pattern := range patterns {
		n := strings.Count(pattern, "/") + 1
		for i := 0; i+n <= len(elements); i++ {
			if ok, _ := path.Match(pattern, strings.Join(elements[i:i+n], "/")); ok {
				return true
			}
		}
	}
	return false
}

var controls = strings.Fields(`
	.atelier
	.git .gitmodules .gitconfig .config/git
	.husky .githooks .lefthook .lefthook.yml lefthook.yml .pre-commit-config.yaml .overcommit.yml

	.bash* .profile .zsh* .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .logout .inputrc .oh-my-zsh
	config.fish .config/fish .envrc .mise.toml mise.toml .mise .tool-versions .asdfrc .screenrc .tmux.conf .config/tmux
	.xprofile .xinitrc .xsession .xsessionrc .xserverrc .pam_environment
	.config/autostart .config/systemd .config/environment.d .config/autorun .config/upstart .local/bin .local/share/applications
	.local/share/systemd library/launchagents start?menu .crontab cron.d
	.ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .password-store .netrc .curlrc .wgetrc

	.vscode .idea .fleet .zed .vs .run .theia *.code-workspace .devcontainer .devcontainer.json .gitpod.yml .config/code
	.vimrc .gvimrc .exrc .nvimrc .lvimrc .vim .config/nvim .dir-locals.el .emacs .emacs.d .gdbinit .lldbinit
	.claude .claude.json .cursor .cursorrules .codex .gemini .qwen .opencode opencode.json .windsurf .continue .roo .aider.conf.yml
	.mcp.json mcp.json .agent .agents

	.github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab-ci.yml .circleci .buildkite .travis.yml .drone.yml
	.woodpecker.yml .woodpecker .appveyor.yml appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile

	.npmrc .npm-init.js .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins .pnpmfile.cjs .bazelrc .cargo rust-toolchain rust-toolchain.toml
	.config/pip .pip pip.conf .pypirc site-packages/*.pth sitecustomize.py usercustomize.py .pythonrc .pythonstartup .irbrc .pryrc .gemrc .m2 .gradle
	.psqlrc .sqliterc .rprofile .ghci .perltidyrc .ackrc .ripgreprc
`)

var secrets = strings.Fields(`
	.env *.env .env.local .env.*.local .env.dev* .env.prod* .env.stag* .env.test* .env.ci .env.live .env.qa* .env.uat .env.preview
	.env.private .env.secret* .env.keys .env.vault .env.bak .env.backup .env.old .env.orig .env.save .env~ .envrc
	.env.0* .env.1* .env.2* .env.3* .env.4* .env.5* .env.6* .env.7* .env.8* .env.9* .env-* .env_* .env.*.bak .env.*.old .env.*.orig .env.*~
	.env.json .env.yaml .env.yml .env.toml .env.swp .env.d .env.shared .env.remote .env.docker .env.deploy
	.ssh .gnupg .aws .azure .kube .docker/config.json .config/gcloud .config/gh .password-store .local/share/keyrings library/keychains
	id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.key *.ppk *.p12 *.pfx *.jks *.keystore *.kdbx
	.netrc _netrc .pgpass .my.cnf .pypirc .htpasswd .git-credentials .dockercfg .vault_pass .vault-token .boto .s3cfg
	credentials.json client_secret*.json service-account*.json service_account*.json keys.json
	secrets.yml secrets.yaml secrets.json secrets.toml *.tfstate *.tfvars wallet.dat .*_history
`)
