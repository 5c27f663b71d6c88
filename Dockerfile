# docker build --build-arg COMMIT=$(git rev-parse --short=10 HEAD) -t feedback-mirror .
# The Node of the checkout (devDependencies); test/shipping holds them together.
FROM node:24.21.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm ci --no-audit --no-progress
COPY tsconfig.json tsconfig.build.json ./
COPY config ./config
COPY deploy ./deploy
COPY jobs ./jobs
COPY src ./src
ARG COMMIT
RUN COMMIT=$COMMIT npm run build

FROM node:24.21.0-slim AS install
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional ones are left out: a compiled speed-up that nothing needs. Workspaces are left out: dist has them compiled.
RUN npm ci --omit=dev --omit=optional --workspaces=false --no-audit --no-progress
# What a plain install leaves out and an image has: the queue on PostgreSQL, the tools for agents and traces. In a folder of their own, as npm
# takes them for what only the checkout needs.
WORKDIR /optional
COPY deploy/optional/package.json deploy/optional/package-lock.json .npmrc ./
RUN npm ci --omit=optional --no-audit --no-progress

FROM node:24.21.0-slim
ENV NODE_ENV=production
# One heap for all threads of the C library: an idle service holds 8 MB less.
ENV MALLOC_ARENA_MAX=1
ENV DATA_DIR=/data
WORKDIR /app
COPY --from=install /app/node_modules ./node_modules
# Where Node looks after /app/node_modules.
COPY --from=install /optional/node_modules /node_modules
COPY --from=build /build/dist ./dist
COPY docs ./docs
COPY schemas ./schemas
COPY package.json ./
COPY src/feedback-mirror.js src/launch.js ./src/
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# The process itself; whether it makes progress is told by /readyz, which a restart would not mend when the upstream is away.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/feedback-mirror.js", "start"]
