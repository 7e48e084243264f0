# syntax=docker/dockerfile:1
# Two stages. The first compiles and gathers; the second holds compiled JavaScript, production dependencies and one Node
# binary: the one that the lock file names and the tests ran on, not a second Node from a base image (docs/decisions/0001).

FROM node:24-trixie-slim AS build
WORKDIR /src
RUN apt-get update \
 && apt-get install --yes --no-install-recommends binutils git \
 && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
COPY engine/package.json ./engine/
COPY gateway/package.json ./gateway/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY engine ./engine
COPY gateway ./gateway
RUN npm run build
# The Node binary leaves node_modules before the rest of the carried package (headers, manual pages) is dropped. Symbols for a
# debugger are a sixth of it. Of git, the gateway calls what is in its one binary; the scripts around it need Perl.
RUN mkdir -p /out/bin /out/data \
 && cp --dereference node_modules/.bin/node /out/bin/node \
 && strip /out/bin/node \
 && cp /usr/bin/git /out/bin/git \
 && npm prune --omit=dev --omit=optional --no-audit --no-fund \
 && npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=spdx > /out/sbom.spdx.json \
 && find node_modules \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -type f -delete \
 && find node_modules -depth -type d -empty -delete

FROM debian:trixie-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Preflight Gateway" \
      org.opencontainers.image.description="Policy gateway for the contracts behind an agent's outbound calls" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

COPY --from=build /out/bin/node /usr/local/bin/node
COPY --from=build /out/bin/git /usr/local/bin/git
WORKDIR /app
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./
COPY package.json LICENSE ./
COPY policies ./policies
# For `kubectl exec … preflight` and the like.
RUN chmod 755 gateway/preflight.js && ln -s /app/gateway/preflight.js /usr/local/bin/preflight
# The injector's init containers set packet filter rules (preflight redirect).
RUN apt-get update \
 && apt-get install --yes --no-install-recommends iptables \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf /var/log/*
COPY --from=build /out/sbom.spdx.json ./
# Mounted volumes take over owner and mode of this directory; everything else may be read-only.
COPY --from=build --chown=65532:65532 /out/data /var/lib/preflight

# Inside a container the loopback defaults would be out of reach of the pod's probes and peers. Two arenas of memory are
# enough: glibc gives every thread its own, and what was freed in one stays with it (6 MB of an idle gateway).
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    PREFLIGHT_DATA_DIR=/var/lib/preflight \
    PREFLIGHT_PROXY_LISTEN=0.0.0.0:15080 \
    PREFLIGHT_API_LISTEN=0.0.0.0:15081 \
    PREFLIGHT_ADMIN_LISTEN=0.0.0.0:15090
VOLUME /var/lib/preflight
EXPOSE 15080 15081 15090
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:15090/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "gateway/preflight.js"]
CMD ["serve"]
