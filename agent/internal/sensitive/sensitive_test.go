package sensitive

import (
	"strings"
	"testing"
)

// These files are run or obeyed by other programs.
const controlled = `
	.git/config .git/hooks/pre-commit .GIT/config sub/.git/config .gitmodules .gitconfig .config/git/config .atelier/settings.json
	.husky/pre-commit .husky/_/husky.sh .githooks/pre-push .lefthook.yml lefthook.yml .pre-commit-config.yaml
	.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .kshrc .cshrc .tcshrc .login
	config.fish .config/fish/conf.d/x.fish .envrc mise.toml .mise.toml .tool-versions .inputrc .screenrc .tmux.conf .xprofile .xinitrc .pam_environment
	.config/autostart/x.desktop .config/systemd/user/x.service .config/environment.d/x.conf .local/bin/ls .local/share/applications/x.desktop
	Library/LaunchAgents/x.plist .ssh/authorized_keys .ssh/config .gnupg/gpg.conf .aws/config .kube/config .curlrc .wgetrc .netrc
	.vscode/tasks.json .vscode/settings.json .idea/workspace.xml x.code-workspace .devcontainer/devcontainer.json .devcontainer.json .zed/tasks.json
	.vimrc .exrc .nvimrc .config/nvim/init.lua .dir-locals.el .emacs.d/init.el .gdbinit .lldbinit
	.claude/settings.json .claude/settings.local.json .cursor/mcp.json .cursorrules .codex/config.toml .gemini/settings.json opencode.json .mcp.json mcp.json
	.github/workflows/ci.yml sub/.github/workflows/ci.yml .github/actions/x/action.yml .gitlab-ci.yml .circleci/config.yml .travis.yml Jenkinsfile azure-pipelines.yml
	.npmrc .yarnrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs .bazelrc .cargo/config.toml rust-toolchain.toml .pypirc pip.conf
	sitecustomize.py lib/site-packages/x.pth .irbrc .psqlrc .sqliterc .Rprofile`

const secret = `
	.env.1 .env.2024 .env-prod .env_prod .env.local.bak .env.json .env.d/x .env .ENV sub/.env .env.local .env.production .env.development.local prod.env .envrc .ssh/id_ed25519 .ssh id_rsa deploy/id_ecdsa server.pem
	tls/private.key x.p12 x.pfx x.jks x.kdbx .netrc .pgpass .pypirc .htpasswd .git-credentials .aws/credentials .kube/config .docker/config.json
	.config/gh/hosts.yml credentials.json client_secret_1.json service-account.json keys.json secrets.yaml terraform.tfstate prod.tfvars
	.bash_history .psql_history .gnupg/x`

const ordinary = `
	README.md Makefile main.go package.json src/git/config.go gitconfig docs/env.md .gitignore .gitattributes .github/CODEOWNERS .github/ISSUE_TEMPLATE/x.md
	src/head/head.go headless.go .env.example .env.sample .env.template .env.js .env.d.ts env.go environment.ts src/credentials/list.go id_rsa.pub server.crt
	model.pth key.go keys.go keyboard.ts secrets.go tokens.json .editorconfig .prettierrc tsconfig.json Dockerfile docker-compose.yml
	workflows/ci.yml actions/x.ts profile.go ssh/client.go AGENTS.md go.mod`

func TestNames(t *testing.T) {
	t.Parallel()
	for _, path := range strings.Fields(controlled) {
		if !Controls(path) {
			t.Errorf("%s: nothing runs or obeys it", path)
		}
	}
	for _, path := range strings.Fields(secret) {
		if !Secret(path) {
			t.Errorf("%s is not taken for a secret", path)
		}
	}
	for _, path := range strings.Fields(ordinary) {
		if Controls(path) || Secret(path) {
			t.Errorf("%s: controls %t, secret %t", path, Controls(path), Secret(path))
		}
	}
	if n := len(strings.Fields(controlled)); n < 73 {
		t.Errorf("%d control files", n)
	}
}
