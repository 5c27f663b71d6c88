# The Node of the checkout (devDependencies) and of "engines"; test/shipping holds the three together.
FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional ones too: the type checker would come along as somebody's optional peer, and a compiled speed-up nobody needs.
RUN npm ci --omit=dev --omit=optional --no-audit --no-progress

FROM node:24.21.0-slim
ENV NODE_ENV=production
ENV DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY config ./config
COPY jobs ./jobs
COPY src ./src
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# The process itself; whether it makes progress is told by /readyz, which a restart would not mend when the upstream is away.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT || 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/feedback-mirror.js", "start"]
